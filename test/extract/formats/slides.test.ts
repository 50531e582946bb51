import { describe, test } from "vitest";
import { extractFile, textOf } from "../documents.ts";
import { makeOdf, makePptx, makeRels, SLIDE, slideShape } from "../office-files.ts";

const notes = (text: string) =>
  `<p:notes ${SLIDE}><p:cSld><p:spTree>${slideShape(["1"], "sldNum")}${slideShape([text], "body")}</p:spTree></p:cSld></p:notes>`;

test("a page of OpenDocument without a title is called by the name that its author gave it", async ({ expect }) => {
  const page = (name: string, inner: string) => `<draw:page draw:name="${name}">${inner}</draw:page>`;
  const frame = (words: string, more = "") =>
    `<draw:frame ${more}><draw:text-box><text:p>${words}</text:p></draw:text-box></draw:frame>`;
  const body =
    page("page1", frame("One")) +
    page("Floor plan", frame("Two")) +
    page("Named", frame("A title", 'presentation:class="title"')) +
    page("Folie 4", frame("Four")) +
    page("2024", frame("Five"));
  const { text, sections } = await textOf("a.odp", makeOdf("presentation", { body }));
  expect(sections.map(({ name }) => name)).toEqual(["Slide 1", "Floor plan", "A title", "Slide 4", "2024"]);
  expect(text).toContain("# Floor plan\n\nTwo\n");
});

describe("a presentation", () => {
  test("has a section for each slide, its title first, with the slide's number", async ({ expect }) => {
    const first = slideShape(["A box"]) + slideShape(["Welcome"], "ctrTitle") + slideShape(["One", "Two"], "body");
    const result = await textOf("a.pptx", makePptx([first, slideShape(["No title here"])]));
    expect(result.text).toBe("# Welcome\n\nA box\n\n- One\n- Two\n\n# Slide 2\n\nNo title here\n");
    expect(result.sections).toEqual([
      { name: "Welcome", level: 1, start: 0, kind: "slide", ref: "1" },
      { name: "Slide 2", level: 1, start: result.text.indexOf("# Slide 2"), kind: "slide", ref: "2" },
    ]);
    expect(result.properties).toEqual({ slides: "2" });
  });

  test("has line breaks that programs write as escapes", async ({ expect }) => {
    const { text } = await textOf("a.pptx", makePptx([slideShape(["One_x000B_two _x0041_"])]));
    expect(text).toBe("# Slide 1\n\nOne\ntwo _x0041_\n");
  });

  test("has the characters that fonts of symbols show", async ({ expect }) => {
    const run = (font: string, text: string) => `<a:r><a:rPr>${font}</a:rPr><a:t>${text}</a:t></a:r>`;
    const paragraph =
      run('<a:sym typeface="Wingdings"/>', "go \uf0e0 on") + run('<a:latin typeface="Symbol"/>', "D") + run("", "D");
    const { text } = await textOf("a.pptx", makePptx([slideShape(["x"]).replace(/<a:r>.*<\/a:r>/u, paragraph)]));
    expect(text).toBe("# Slide 1\n\ngo → onΔD\n");
  });

  test("hidden slides and shapes are left out, groups are not", async ({ expect }) => {
    const hidden = `<p:sld show="0" ${SLIDE}><p:cSld><p:spTree>${slideShape(["secret"])}</p:spTree></p:cSld></p:sld>`;
    const shape = slideShape(["gone"]).replace('name="x"', 'name="x" hidden="1"');
    const group = `<p:grpSp><p:nvGrpSpPr/>${slideShape(["in a group"])}</p:grpSp>`;
    const result = await textOf("a.pptx", makePptx([hidden, shape + group]));
    expect(result.text).toBe("# Slide 2\n\nin a group\n");
    expect(result.sections[0]?.ref).toBe("2");
  });

  test("has tables, links, notes, comments, and footers once", async ({ expect }) => {
    const cell = (text: string) => `<a:tc><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
    const table = `<p:graphicFrame><a:tbl><a:tr>${cell("K")}${cell("V")}</a:tr><a:tr>${cell("a")}${cell("1")}</a:tr></a:tbl></p:graphicFrame>`;
    const link = `<p:sp><p:txBody><a:p><a:r><a:rPr><a:hlinkClick r:id="h"/></a:rPr><a:t>our </a:t></a:r><a:r><a:rPr><a:hlinkClick r:id="h"/></a:rPr><a:t>site</a:t></a:r></a:p></p:txBody></p:sp>`;
    const footer = slideShape(["ACME"], "ftr") + slideShape(["3"], "sldNum");
    const parts = {
      "ppt/slides/_rels/slide1.xml.rels": makeRels({
        h: "hyperlink https://a.test/",
        n: "notesSlide ../notesSlides/n1.xml",
        c: "comments ../comments/c1.xml",
      }),
      "ppt/notesSlides/n1.xml": notes("Say hello"),
      "ppt/comments/c1.xml": `<p:cmLst ${SLIDE}><p:cm authorId="0" dt="2024-05-01T10:00:00"><p:text>Nice</p:text></p:cm></p:cmLst>`,
      "ppt/commentAuthors.xml": `<p:cmAuthorLst ${SLIDE}><p:cmAuthor id="0" name="Ana"/></p:cmAuthorLst>`,
    };
    expect((await textOf("a.pptx", makePptx([table + link + footer, footer], parts))).text).toBe(
      "# Slide 1\n\n| K | V |\n| --- | --- |\n| a | 1 |\n\nour site (https://a.test/)\n\nNotes: Say hello\n\n- Comment by Ana, 2024-05-01: Nice\n\n# Slide 2\n\n# Headers and footers\n\nACME\n",
    );
  });

  test("has the words of its charts and diagrams", async ({ expect }) => {
    const frame = `<p:graphicFrame><c:chart r:id="c"/></p:graphicFrame><p:graphicFrame><dgm:relIds r:dm="d"/></p:graphicFrame>`;
    const points = (...values: string[]) =>
      `<c:strCache>${values.map((value) => `<c:pt><c:v>${value}</c:v></c:pt>`).join("")}</c:strCache>`;
    const parts = {
      "ppt/slides/_rels/slide1.xml.rels": makeRels({ c: "chart ../charts/c.xml", d: "diagramData ../diagrams/d.xml" }),
      "ppt/charts/c.xml": `<c:chartSpace ${SLIDE}><c:title><c:tx><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:tx></c:title><c:ser><c:tx>${points("2024")}</c:tx><c:cat>${points("North", "South")}</c:cat><c:val>${points("1.1000000000000001", "2")}</c:val></c:ser></c:chartSpace>`,
      "ppt/diagrams/d.xml": `<dgm:dataModel ${SLIDE}><dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p><a:r><a:t>Do</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>`,
    };
    expect((await textOf("a.pptx", makePptx([frame], parts))).text).toBe(
      "# Slide 1\n\n[chart: Sales]\n\n- 2024: North 1.1, South 2\n\nPlan\n\nDo\n",
    );
  });

  test("without its main part fails", async ({ expect }) => {
    const broken = makePptx([slideShape(["x"])], { "ppt/presentation.xml": "" });
    expect(await extractFile("a.pptx", broken)).toMatchObject({ reason: "empty" });
  });
});

describe("an OpenDocument presentation", () => {
  const frame = (text: string, place = "outline") =>
    `<draw:frame presentation:class="${place}"><draw:text-box><text:p>${text}</text:p></draw:text-box></draw:frame>`;

  test("is read as one of PowerPoint is", async ({ expect }) => {
    const styles = `<style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>`;
    const body = `<draw:page>${frame("Text")}${frame("Title", "title")}${frame("7", "page-number")}<presentation:notes>${frame("Say it", "notes")}</presentation:notes><office:annotation><dc:creator>Bo</dc:creator><dc:date>2024-05-01T00:00:00</dc:date><text:p>Hm</text:p></office:annotation></draw:page>
      <draw:page draw:style-name="dp2">${frame("secret", "title")}</draw:page><draw:page>${frame("Last", "title")}</draw:page>`;
    const result = await textOf("a.odp", makeOdf("presentation", { body, styles }));
    expect(result.text).toBe("# Title\n\nText\n\nNotes: Say it\n\n- Comment by Bo, 2024-05-01: Hm\n\n# Last\n");
    expect(result.sections.map(({ kind, ref }) => `${kind} ${ref}`)).toEqual(["slide 1", "slide 3"]);
  });
});
