import { describe, test } from "vitest";
import { extractFile, textOf } from "../documents.ts";
import { makeDocx, makeOle, WORD, wordParagraph as p } from "../office-files.ts";
import { makeZip } from "../zip-files.ts";

const STYLES = `<w:styles ${WORD}>
  <w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
  <w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
  <w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Kapitel"/><w:basedOn w:val="berschrift1"/></w:style>
  <w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
  <w:style w:type="character" w:styleId="Geheim"><w:name w:val="Geheim"/><w:rPr><w:vanish/></w:rPr></w:style>
</w:styles>`;
const NUMBERING = `<w:numbering ${WORD}>
  <w:abstractNum w:abstractNumId="1">
    <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
    <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2"/></w:lvl>
  </w:abstractNum>
  <w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="·"/></w:lvl></w:abstractNum>
  <w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>
</w:numbering>`;
const RELS = { s: "styles styles.xml", n: "numbering numbering.xml" };
const PARTS = { "word/styles.xml": STYLES, "word/numbering.xml": NUMBERING };
const docx = (body: string, rels = {}, parts = {}) =>
  makeDocx({ body, rels: { ...RELS, ...rels }, parts: { ...PARTS, ...parts } });
const text = async (body: string, rels = {}, parts = {}) => (await textOf("a.docx", docx(body, rels, parts))).text;
const run = (inner: string, properties = "") => `<w:r><w:rPr>${properties}</w:rPr>${inner}</w:r>`;
const numbered = (id: number, level: number) => `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${id}"/></w:numPr>`;

const ruby = (base: string, reading: string) =>
  `<w:r><w:ruby><w:rubyPr><w:lid w:val="ja-JP"/></w:rubyPr><w:rt>${run(`<w:t>${reading}</w:t>`)}</w:rt><w:rubyBase>${run(`<w:t>${base}</w:t>`)}</w:rubyBase></w:ruby></w:r>`;

describe("a Word document", () => {
  test("has the readings of words behind them, not in them", async ({ expect }) => {
    const words = (letters: string) => run(`<w:t xml:space="preserve">${letters}</w:t>`);
    const japanese = `<w:p>${words("私の")}${ruby("漢", "かん")}${ruby("字", "じ")}${words("です。")}</w:p>`;
    const kana = `<w:p>${ruby("振", "ふ")}${words("り")}${ruby("仮", "が")}${words("な")}</w:p>`;
    const chinese = `<w:p>${words("in ")}${ruby("北", "běi")}${ruby("京", "jīng")}${words(" now")}</w:p>`;
    expect(await text(japanese + kana + chinese)).toBe(
      "私の漢字です (かんじ)。\n\n振り仮な (ふ が)\n\nin 北京 (běi jīng) now\n",
    );
  });

  test("has headings by outline level and by the style it is based on, in any language", async ({ expect }) => {
    const body =
      p("Bericht", '<w:pStyle w:val="Titel"/>') +
      p("Eins", '<w:pStyle w:val="berschrift1"/>') +
      p("Text") +
      p("Zwei", '<w:pStyle w:val="Kapitel"/><w:outlineLvl w:val="1"/>') +
      p("Drei", '<w:pStyle w:val="Kapitel"/>');
    const result = await textOf("a.docx", docx(body));
    expect(result.text).toBe("# Bericht\n\n# Eins\n\nText\n\n## Zwei\n\n# Drei\n");
    expect(result.sections.map(({ name, level }) => `${level} ${name}`)).toEqual([
      "1 Bericht",
      "1 Eins",
      "2 Zwei",
      "1 Drei",
    ]);
    expect(result.text.slice(result.sections[2]?.start)).toMatch(/^## Zwei/u);
  });

  test("has lists with the numbers that a person sees", async ({ expect }) => {
    const body = [p("a", numbered(1, 0)), p("b", numbered(1, 1)), p("c", numbered(1, 1)), p("d", numbered(1, 0))];
    body.push(p("bullet", numbered(2, 0)));
    expect(await text(body.join(""))).toBe("1. a\n   - 1.a b\n   - 1.b c\n2. d\n- bullet\n");
  });

  test("has tables; one that lays out a page stays paragraphs", async ({ expect }) => {
    const row = (...cells: string[]) => `<w:tr>${cells.map((cell) => `<w:tc>${cell}</w:tc>`).join("")}</w:tr>`;
    const wide = `<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>${p("Sum")}`;
    const data = `<w:tbl>${row(p("Name"), p("A|B"), p("C"))}${row(wide, p("7"))}</w:tbl>`;
    expect(await text(data)).toBe("| Name | A\\|B | C |\n| --- | --- | --- |\n| Sum |  | 7 |\n");
    const layout = `<w:tbl>${row(p("Menu"), p("Title", '<w:outlineLvl w:val="0"/>') + p("Body"))}</w:tbl>`;
    expect(await text(layout)).toBe("Menu\n\n# Title\n\nBody\n");
  });

  test("has what the fields of old forms show", async ({ expect }) => {
    const field = (settings: string, result = "") =>
      `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="n"/>${settings}</w:ffData></w:fldChar></w:r><w:r><w:instrText>FORM</w:instrText></w:r>${result}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;
    const list = (more: string) =>
      field(`<w:ddList>${more}<w:listEntry w:val="Austria"/><w:listEntry w:val="Poland"/></w:ddList>`);
    const box = (more: string) => field(`<w:checkBox><w:sizeAuto/>${more}</w:checkBox>`);
    const typed = `<w:r><w:fldChar w:fldCharType="separate"/></w:r>${run("<w:t>typed</w:t>")}`;
    const fields = [
      list('<w:result w:val="1"/>'),
      list(""),
      list('<w:default w:val="1"/>'),
      box("<w:checked/>"),
      box('<w:default w:val="1"/><w:checked w:val="0"/>'),
      box('<w:default w:val="1"/>'),
      field('<w:textInput><w:default w:val="preset"/></w:textInput>', typed),
    ];
    expect(await text(fields.map((inner) => `<w:p>${inner}</w:p>`).join(""))).toBe(
      "Poland\n\nAustria\n\nPoland\n\n☒\n\n☐\n\n☒\n\ntyped\n",
    );
  });

  test("has no rows that are deleted or hidden, whatever lies in them", async ({ expect }) => {
    const row = (words: string, properties = "") =>
      `<w:tr>${properties}<w:tc>${p(words)}</w:tc><w:tc>${p("x")}</w:tc></w:tr>`;
    const inner = `<w:tbl>${row("in", '<w:trPr><w:del w:id="2"/></w:trPr>')}${row("kept")}</w:tbl>`;
    const table = `<w:tbl>${row("a")}${row("gone", '<w:trPr><w:cantSplit/><w:del w:id="1"/></w:trPr>')}${row("hid", "<w:trPr><w:hidden/></w:trPr>")}${row("b", '<w:trPr><w:ins w:id="3"/><w:hidden w:val="0"/></w:trPr>')}<w:tr><w:tc>${inner}</w:tc></w:tr></w:tbl>`;
    const found = await text(table);
    expect(found).toMatch(/a[^]*b[^]*kept/u);
    expect(found).not.toMatch(/gone|hid|\bin\b/u);
  });

  test("gives inserted text, not what is deleted, moved away or hidden", async ({ expect }) => {
    const body = `<w:p><w:ins><w:r><w:t>new </w:t></w:r></w:ins><w:del><w:r><w:delText>old </w:delText></w:r></w:del>
      <w:moveFrom><w:r><w:t>moved </w:t></w:r></w:moveFrom>${run("<w:t>secret </w:t>", "<w:vanish/>")}
      ${run("<w:t>style </w:t>", '<w:rStyle w:val="Geheim"/>')}${run("<w:t>shown</w:t>", '<w:vanish w:val="0"/>')}</w:p>`;
    expect(await text(body)).toBe("new shown\n");
  });

  test("gives the results of fields and links with their addresses", async ({ expect }) => {
    const field = (code: string, result: string) =>
      `${run('<w:fldChar w:fldCharType="begin"/>')}${run(`<w:instrText>${code}</w:instrText>`)}${run('<w:fldChar w:fldCharType="separate"/>')}${run(`<w:t>${result}</w:t>`)}${run('<w:fldChar w:fldCharType="end"/>')}`;
    const body = `<w:p><w:hyperlink r:id="h"><w:r><w:t>Site</w:t></w:r></w:hyperlink>${run("<w:t>, </w:t>")}${field(' HYPERLINK "https://b.test/x" ', "other")}${run("<w:t> on </w:t>")}${field("PAGE", "3")}</w:p>`;
    expect(await text(body, { h: "hyperlink https://a.test/" })).toBe(
      "Site (https://a.test/), other (https://b.test/x) on 3\n",
    );
  });

  test("a field that never ends does not swallow the rest", async ({ expect }) => {
    const body = `<w:p>${run('<w:fldChar w:fldCharType="begin"/>')}${run("<w:instrText>TOC</w:instrText>")}</w:p>${p("The rest")}`;
    expect(await text(body)).toBe("The rest\n");
  });

  test("has notes, comments, headers and footers at its end, each once", async ({ expect }) => {
    const body = `<w:p>${run("<w:t>Text</w:t>")}${run('<w:footnoteReference w:id="2"/>')}${run('<w:endnoteReference w:id="5"/>')}</w:p>
      <w:sectPr><w:headerReference r:id="h1"/><w:headerReference r:id="h2"/></w:sectPr>`;
    const header = `<w:hdr ${WORD}>${p("Confidential")}</w:hdr>`;
    const rels = {
      f: "footnotes footnotes.xml",
      e: "endnotes endnotes.xml",
      c: "comments comments.xml",
      h1: "header header1.xml",
      h2: "header header2.xml",
    };
    const parts = {
      "word/footnotes.xml": `<w:footnotes ${WORD}><w:footnote w:id="1">${p("never named")}</w:footnote><w:footnote w:id="2">${p("At the foot")}</w:footnote></w:footnotes>`,
      "word/endnotes.xml": `<w:endnotes ${WORD}><w:endnote w:id="5">${p("At the end")}</w:endnote></w:endnotes>`,
      "word/comments.xml": `<w:comments ${WORD}><w:comment w:id="0" w:author="Ana" w:date="2024-05-01T10:00:00Z">${p("Really?")}</w:comment></w:comments>`,
      "word/header1.xml": header,
      "word/header2.xml": header,
    };
    expect(await text(body, rels, parts)).toBe(
      "Text[^2][^e5]\n\n# Footnotes\n\n[^2]: At the foot\n\n# Endnotes\n\n[^e5]: At the end\n\n# Comments\n\n- Ana, 2024-05-01: Really?\n\n# Headers and footers\n\nConfidential\n",
    );
  });

  test("text boxes come behind their paragraph, once, though the file has them twice", async ({ expect }) => {
    const box = `<w:txbxContent>${p("In a box")}</w:txbxContent>`;
    const body = `<w:p>${run("<w:t>Before</w:t>")}<w:r><mc:AlternateContent><mc:Choice Requires="wps"><wps:txbx>${box}</wps:txbx></mc:Choice><mc:Fallback><v:textbox>${box}</v:textbox></mc:Fallback></mc:AlternateContent></w:r>${run("<w:t> after</w:t>")}</w:p>`;
    expect(await text(body)).toBe("Before after\n\nIn a box\n");
  });

  test("line breaks, tabs, hyphens and words about pictures are kept", async ({ expect }) => {
    const body = `<w:p>${run("<w:t>one</w:t><w:br/><w:t>two</w:t><w:tab/><w:t>x</w:t><w:noBreakHyphen/><w:t>y\u00adz</w:t>")}<w:r><wp:docPr descr="A red house"/><wp:docPr descr="img01.png"/></w:r></w:p>`;
    expect(await text(body)).toBe("one\ntwo x-yz [image: A red house]\n");
  });

  test("parts of a formula are no one word", async ({ expect }) => {
    const part = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
    const fraction = `<m:f><m:num>${part("a+b")}</m:num><m:den>${part("c")}</m:den></m:f>`;
    const power = `<m:sSup><m:e>${part("x")}</m:e><m:sup>${part("2")}</m:sup></m:sSup>`;
    const sum = `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>${part("i")}</m:sub><m:sup/><m:e><m:rad><m:e>${part("k")}</m:e></m:rad></m:e></m:nary>`;
    expect(await text(`<w:p><m:oMath>${fraction}${power}${part("=")}${sum}</m:oMath></w:p>`)).toBe(
      "(a+b)/(c)x^2=∑_i√(k)\n",
    );
  });

  test("symbols are the characters that their fonts show, and hyphens that may be none are none", async ({
    expect,
  }) => {
    const symbol = (font: string, code: string) => `<w:r><w:sym w:font="${font}" w:char="${code}"/></w:r>`;
    const greek = ["F061", "F0E5", "F0A3", "00B4"].map((code) => symbol("Symbol", code)).join("");
    const signs = symbol("Wingdings", "F0E0") + symbol("Wingdings", "F0FC") + symbol("Wingdings", "F0FF");
    const others = symbol("Arial", "20AC") + symbol("Own Font", "F041") + symbol("Symbol", "junk");
    const inFont = `<w:r><w:rPr><w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/></w:rPr><w:t>\uf062D</w:t></w:r>`;
    const words = run("<w:t>micro</w:t><w:softHyphen/><w:t>scope</w:t>") + run("<w:t>, plain D</w:t>");
    expect(await text(`<w:p>${greek}${signs}${others}${inFont}${words}</w:p>`)).toBe("α∑≤×→✓€βΔmicroscope, plain D\n");
  });

  test("is read whatever prefixes it gives its namespaces", async ({ expect }) => {
    const other = (part: string) =>
      part
        .replaceAll("<w:", "<ns0:")
        .replaceAll("</w:", "</ns0:")
        .replaceAll(" w:", " ns0:")
        .replaceAll("xmlns:w=", "xmlns:ns0=");
    const bytes = makeDocx({
      body: "",
      rels: RELS,
      parts: {
        "word/styles.xml": other(STYLES),
        "word/document.xml": other(
          `<w:document ${WORD}><w:body>${p("Kopf", '<w:pStyle w:val="Kapitel"/>')}</w:body></w:document>`,
        ),
      },
    });
    expect((await textOf("a.docx", bytes)).text).toBe("# Kopf\n");
  });

  test("its properties are read, with dates in RFC 3339", async ({ expect }) => {
    const core = `<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">
      <dc:title>The report</dc:title><dc:creator>Ana &amp; Bo</dc:creator><cp:lastModifiedBy>Bo</cp:lastModifiedBy><dc:language>de-DE</dc:language>
      <dcterms:created>2024-01-31T12:00:00Z</dcterms:created><dcterms:modified>no date</dcterms:modified></cp:coreProperties>`;
    const app = `<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties"><Company>One Ltd</Company></Properties>`;
    const result = await textOf("a.docx", docx(p("x"), {}, { "docProps/core.xml": core, "docProps/app.xml": app }));
    expect(result).toMatchObject({ title: "The report", language: "de" });
    expect(result.properties).toEqual({
      author: "Ana & Bo",
      lastModifiedBy: "Bo",
      created: "2024-01-31T12:00:00Z",
      company: "One Ltd",
    });
  });

  test("is told by its parts, as document, template or with macros, whatever its name", async ({ expect }) => {
    const macros = makeDocx({ body: p("x"), mainType: "application/vnd.ms-word.document.macroEnabled" });
    expect((await textOf("a.bin", macros)).mimeType).toBe("application/vnd.ms-word.document.macroenabled.12");
    const bare = makeZip({ "word/document.xml": `<w:document ${WORD}><w:body>${p("bare")}</w:body></w:document>` });
    expect((await textOf("a.zip", bare)).text).toBe("bare\n");
  });
});

describe("a Word document that can't be read", () => {
  test("of the old format says how to make it readable", async ({ expect }) => {
    expect(await extractFile("a.docx", makeOle("WordDocument"))).toMatchObject({
      reason: "unsupported_type",
      mimeType: "application/msword",
      message:
        "kb can't read this old binary format (application/msword). Save the document in the current format, as .docx.",
    });
    expect(await extractFile("a", makeOle("Workbook"))).toMatchObject({ mimeType: "application/vnd.ms-excel" });
  });

  test("with a password is encrypted", async ({ expect }) => {
    expect(await extractFile("a.docx", makeOle("EncryptedPackage"))).toMatchObject({ reason: "encrypted" });
  });

  test("that is cut or has no text part fails", async ({ expect }) => {
    expect(await extractFile("a.docx", docx(p("x")).subarray(0, 400))).toMatchObject({ reason: "failed" });
  });

  test("its entities are not expanded, its external ones not loaded", async ({ expect }) => {
    const body = `<?xml version="1.0"?><!DOCTYPE w:document [<!ENTITY a "laugh"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]><w:document ${WORD}><w:body>${p("&b; and &x; &lt;")}</w:body></w:document>`;
    expect((await textOf("a.docx", makeDocx({ body: "", parts: { "word/document.xml": body } }))).text).toBe(
      "&b; and &x; <\n",
    );
  });

  test("that nests a hundred thousand deep fails soon", async ({ expect }) => {
    const body = `${"<w:sdt>".repeat(100_000)}x`;
    expect(await extractFile("a.docx", docx(body))).toMatchObject({
      reason: "failed",
      message: expect.stringContaining("nested more than 1000 deep"),
    });
  });
});
