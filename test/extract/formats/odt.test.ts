import { describe, test } from "vitest";
import { extractFile, textOf } from "../documents.ts";
import { makeFlatOdf, makeOdf } from "../office-files.ts";
import { makeZip } from "../zip-files.ts";

const odt = (body: string, more = {}) => makeOdf("text", { body, ...more });
const text = async (body: string, more = {}) => (await textOf("a.odt", odt(body, more))).text;

const STYLES = `<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>
  <style:style style:name="T1" style:family="text"><style:text-properties text:display="none"/></style:style>
  <text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/></text:list-style>`;
const p = (words: string) => `<text:p>${words}</text:p>`;
const item = (inner: string) => `<text:list-item>${inner}</text:list-item>`;

describe("an OpenDocument text", () => {
  test("has the readings of words behind them, not in them", async ({ expect }) => {
    const ruby = (base: string, reading: string) =>
      `<text:ruby><text:ruby-base>${base}</text:ruby-base><text:ruby-text>${reading}</text:ruby-text></text:ruby>`;
    expect(
      await text(p(`私の${ruby("漢", "かん")}${ruby("字", "じ")}です。`) + p(ruby("U.N.", "United Nations"))),
    ).toBe("私の漢字です (かんじ)。\n\nU.N. (United Nations)\n");
  });

  test("has headings, its title, and paragraphs with their spaces and breaks", async ({ expect }) => {
    const body = `<text:p text:style-name="P1">Report</text:p><text:h text:outline-level="2">Part</text:h>${p('a<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d')}`;
    const result = await textOf("a.odt", odt(body, { styles: STYLES }));
    expect(result.text).toBe("# Report\n\n## Part\n\na b c\nd\n");
    expect(result.sections.map(({ name, level }) => `${level} ${name}`)).toEqual(["1 Report", "2 Part"]);
  });

  test("has lists with the numbers that a person sees, and tables", async ({ expect }) => {
    const inner = `<text:list>${item(p("b")) + item(p("c"))}</text:list>`;
    const list = `<text:list text:style-name="L1">${item(p("a") + inner)}${item(p("d") + p("still d"))}</text:list><text:list>${item(p("bullet"))}</text:list>`;
    const cell = (words: string) => `<table:table-cell>${p(words)}</table:table-cell>`;
    const table = `<table:table><table:table-row>${cell("K") + cell("V")}</table:table-row><table:table-row>${cell("a") + cell("1")}</table:table-row></table:table>`;
    expect(await text(list + table, { styles: STYLES })).toBe(
      "1. a\n   - a) b\n   - b) c\n2. d\n\nstill d\n\n- bullet\n\n| K | V |\n| --- | --- |\n| a | 1 |\n",
    );
  });

  test("deleted and hidden text is left out", async ({ expect }) => {
    const body = `<text:tracked-changes><text:changed-region>${p("deleted")}</text:changed-region></text:tracked-changes>
      ${p('seen<text:span text:style-name="T1"> unseen</text:span><text:hidden-text> gone</text:hidden-text>')}<text:section text:display="none">${p("secret")}</text:section>`;
    expect(await text(body, { styles: STYLES })).toBe("seen\n");
  });

  test("has links, notes, comments, and what stands on every page once", async ({ expect }) => {
    const note = `<text:note text:note-class="footnote"><text:note-citation>*</text:note-citation><text:note-body>${p("At the foot")}</text:note-body></text:note>`;
    const comment = `<office:annotation><dc:creator>Ana</dc:creator><dc:date>2024-05-01T10:00:00.123</dc:date>${p("Really?")}</office:annotation>`;
    const body = p(`<text:a xlink:href="https://a.test/">Site</text:a>${note}${comment} and more`);
    const pages = `<office:master-styles><style:master-page><style:header>${p("Confidential")}</style:header><style:footer>${p("Page <text:page-number>3</text:page-number>")}</style:footer></style:master-page><style:master-page><style:header>${p("Confidential")}</style:header><style:header-left style:display="false">${p("off")}</style:header-left></style:master-page></office:master-styles>`;
    expect(await text(body, { pages })).toBe(
      "Site (https://a.test/)[^1] and more\n\n# Footnotes\n\n[^1]: At the foot\n\n# Comments\n\n- Ana, 2024-05-01: Really?\n\n# Headers and footers\n\nConfidential\n\nPage\n",
    );
  });

  test("text boxes come behind their paragraph, with the words about pictures and charts", async ({ expect }) => {
    const box = `<draw:frame><draw:text-box>${p("In a box")}</draw:text-box></draw:frame>`;
    const picture = `<draw:frame><svg:desc>A red house</svg:desc></draw:frame>`;
    const chart = `<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>`;
    const parts = {
      "Object 1/content.xml": `<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><text:p>Sales</text:p></office:document-content>`,
    };
    expect(await text(p(`Before${box}${picture}${chart} after`), { parts })).toBe(
      "Before [image: A red house] after\n\nIn a box\n\nSales\n",
    );
  });

  test("its properties are read", async ({ expect }) => {
    const meta = `<dc:title>The report</dc:title><meta:initial-creator>Ana</meta:initial-creator><dc:creator>Bo</dc:creator><meta:creation-date>2024-01-31T12:00:00</meta:creation-date><dc:date>2024-02-01T00:00:00.5</dc:date><meta:keyword>a</meta:keyword><meta:keyword>b</meta:keyword>`;
    const result = await textOf("a.odt", odt(p("x"), { meta }));
    expect(result.title).toBe("The report");
    expect(result.properties).toEqual({
      author: "Ana",
      lastModifiedBy: "Bo",
      created: "2024-01-31T12:00:00Z",
      modified: "2024-02-01T00:00:00.5Z",
      keywords: "a, b",
    });
  });

  test("as one XML document is read too", async ({ expect }) => {
    const flat = makeFlatOdf("text", { body: p("flat"), meta: "<dc:title>T</dc:title>" });
    expect(await textOf("a.fodt", flat)).toMatchObject({ text: "flat\n", title: "T" });
  });

  test("that is encrypted says so", async ({ expect }) => {
    const manifest = `<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`;
    expect(await extractFile("a.odt", odt(p("x"), { parts: { "META-INF/manifest.xml": manifest } }))).toMatchObject({
      reason: "encrypted",
      message: "The document is password-protected: its content is encrypted.",
    });
  });

  test("without content fails", async ({ expect }) => {
    const bytes = makeZip({ mimetype: "application/vnd.oasis.opendocument.text" });
    expect(await extractFile("a.odt", bytes)).toMatchObject({ reason: "failed" });
  });
});
