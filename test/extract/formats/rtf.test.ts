import { describe, test } from "vitest";
import { extractFile, textOf } from "../documents.ts";

const text = async (body: string) => (await textOf("a.rtf", Buffer.from(`{\\rtf1\\ansi ${body}}`, "latin1"))).text;

describe("an RTF document", () => {
  test("symbols are the characters that their fonts show", async ({ expect }) => {
    const fonts =
      "{\\fonttbl{\\f0 Arial;}{\\f3\\froman\\fcharset2{\\*\\panose 05050102}Symbol;}{\\f4\\fcharset2 Wingdings;}}";
    const body = "a {\\f3 D\\'a3\\u-3999 ?}{\\f4\\'e0} D mi\\-cro\\_x";
    const { text } = await textOf("a.rtf", `{\\rtf1\\ansi${fonts}\\f0 ${body}\\par}`);
    expect(text).toBe("a Δ≤α→ D micro-x\n");
  });

  test("has letters in Unicode, without what old programs show instead", async ({ expect }) => {
    expect(await text("\\uc1 caf\\u233 e, \\u-10179?\\u-8704?, {\\uc2 \\u8364\\'80\\'80}x \\u8212\\emdash y")).toBe(
      "café, 😀, €x —y\n",
    );
  });

  test("has letters in the code page of the document or of the font, also of two bytes", async ({ expect }) => {
    const fonts = "{\\fonttbl{\\f0 Arial;}{\\f1\\fcharset128 MS Mincho;}{\\f2\\fcharset204 Arial Cyr;}}";
    expect(await text(`\\ansicpg1250${fonts}\\'b9 {\\f1 \\'93\\'fa\\'96\\{\\'96\\'7b} {\\f2 \\'cf}\\'e9`)).toBe(
      "ą 日本本 Пé\n",
    );
  });

  test("has paragraphs, breaks, dashes and quotation marks", async ({ expect }) => {
    expect(await text("one\\line two\\tab x\\_y\\~z\\par\r\n\\ldblquote q\\rdblquote\\endash\\{\\}\\\\\\par")).toBe(
      "one\ntwo x-y z\n\n“q”–{}\\\n",
    );
  });

  test("has headings by outline level and by style, and lists with their marks", async ({ expect }) => {
    const styles = "{\\stylesheet{\\s0 Normal;}{\\s1\\outlinelevel0 Kop 1;}{\\s2 heading 2;}}";
    const body =
      "\\pard\\s1 First\\par\\pard\\s2 Second\\par\\pard text\\par{\\listtext 1.\\tab}\\pard one\\par{\\pntext\\'b7\\tab}dot\\par";
    const result = await textOf("a.rtf", `{\\rtf1${styles}${body}}`);
    expect(result.text).toBe("# First\n\n## Second\n\ntext\n\n1. one\n- dot\n");
    expect(result.sections.map(({ name, level }) => `${level} ${name}`)).toEqual(["1 First", "2 Second"]);
  });

  test("has tables", async ({ expect }) => {
    const row = (a: string, b: string) => `\\trowd\\pard\\intbl ${a}\\cell ${b}\\cell\\row`;
    expect(await text(`${row("K", "V")}${row("a\\par b", "1")}\\pard after\\par`)).toBe(
      "| K | V |\n| --- | --- |\n| a b | 1 |\n\nafter\n",
    );
  });

  test("hidden and deleted text, pictures and what is for machines is left out", async ({ expect }) => {
    const body =
      "seen{\\v hidden}\\v hidden\\v0 {\\deleted gone}{\\pict\\pngblip 89504e47}{\\*\\unknown {\\b x} y}{\\*\\generator W;}\\bin5 \\{}{}{ too{\\xe index}";
    expect(await text(body)).toBe("seen too\n");
  });

  test("each word that hides text ends by itself", async ({ expect }) => {
    expect(
      await text("a {\\v b\\deleted0 c} {\\deleted d\\v0 e} \\v f\\plain g \\htmlrtf h\\plain i\\v0 j\\htmlrtf0 k"),
    ).toBe("a g k\n");
  });

  test("has what was moved where it went, and no break where a paragraph's end is hidden or deleted", async ({
    expect,
  }) => {
    expect(await text("a{\\mvf\\mvauth1 from} b{\\mvt to}\\par")).toBe("a bto\n");
    expect(await text("mi{\\deleted x\\par y}cro\\v\\par\\v0 scope\\par{\\v hidden\\par}next\\par")).toBe(
      "microscope\n\nnext\n",
    );
    expect(await text("a{\\*\\htmltag <br>}\\htmlrtf \\par\\htmlrtf0 b\\par")).toBe("a\n\nb\n");
  });

  test("has the results of fields, links with their addresses, text of shapes", async ({ expect }) => {
    const field = (code: string, result: string) => `{\\field{\\*\\fldinst {${code}}}{\\fldrslt {${result}}}}`;
    const body = `${field('HYPERLINK "https://a.test/"', "Site")} on ${field("PAGE", "3")} {\\shp{\\*\\shpinst{\\sp{\\sn a}{\\sv 0}}{\\shptxt box}}{\\shprslt twice}}`;
    expect(await text(body)).toBe("Site (https://a.test/) on 3 box\n");
  });

  test("has notes, comments, headers and footers at its end", async ({ expect }) => {
    const body =
      "{\\header Confidential\\par}Text{\\footnote At the foot}{\\footnote\\ftnalt At the end}{\\*\\atnauthor Ana}{\\*\\annotation Really?}\\par";
    expect(await text(body)).toBe(
      "Text[^1][^e1]\n\n# Footnotes\n\n[^1]: At the foot\n\n# Endnotes\n\n[^e1]: At the end\n\n# Comments\n\n- Ana: Really?\n\n# Headers and footers\n\nConfidential\n",
    );
  });

  test("its properties are read", async ({ expect }) => {
    const info =
      "{\\info{\\title The report}{\\author Ana}{\\creatim\\yr2024\\mo1\\dy31\\hr12\\min5}{\\*\\company One}}";
    const result = await textOf("a.rtf", `{\\rtf1${info} x}`);
    expect(result).toMatchObject({ title: "The report", text: "x\n" });
    expect(result.properties).toEqual({ author: "Ana", created: "2024-01-31T12:05:00Z", company: "One" });
  });

  test("with groups that do not match is read as far as it goes; too deep ones fail soon", async ({ expect }) => {
    expect(await text("a}}} b {{{ c")).toBe("a b c\n");
    expect(await extractFile("a.rtf", `{\\rtf1 ${"{".repeat(100_000)}`)).toMatchObject({
      reason: "failed",
      message: expect.stringContaining("nested more than 10000 deep"),
    });
  });
});
