import { strToU8, unzipSync } from "fflate";
import type { Sample } from "./mutations.ts";
import {
  makeDocx,
  makeEpub,
  makeFlatOdf,
  makeOdf,
  makeOle,
  makePptx,
  makeRels,
  makeXlsx,
  SHEET,
  SLIDE,
  slideShape,
  WORD,
  wordParagraph,
} from "./office-files.ts";
import { makeOverlappingZip, makeZip } from "./zip-files.ts";

/** Whole office documents of every kind that extraction knows. */
export function makeOfficeSamples(words: string): Sample[] {
  const book = { "a.xhtml": `<h1>A</h1><p>${words}</p>`, "b.xhtml": "<p>b<br/></p>" };
  const rtf = `{\\rtf1\\ansi{\\fonttbl{\\f0\\fcharset204 A;}}{\\info{\\title T}}{\\stylesheet{\\s1 heading 1;}}\\pard\\s1 H\\par\\pard ${words}{\\footnote n}{\\field{\\*\\fldinst HYPERLINK "https://a.test"}{\\fldrslt l}}\\par\\trowd\\intbl a\\cell b\\cell\\row \\u233?\\'e9{\\pict 00}}`;
  return [
    { name: "a.docx", bytes: sampleDocx(words) },
    { name: "a.pptx", bytes: samplePptx(words) },
    { name: "a.xlsx", bytes: sampleXlsx(words) },
    {
      name: "a.odt",
      bytes: makeOdf("text", { body: odfText(words), styles: ODF_STYLES, meta: "<dc:title>T</dc:title>" }),
    },
    { name: "a.fodt", bytes: strToU8(makeFlatOdf("text", { body: odfText(words), styles: ODF_STYLES })) },
    { name: "a.odp", bytes: makeOdf("presentation", { body: `<draw:page>${odfText(words)}</draw:page>` }) },
    { name: "a.ods", bytes: makeOdf("spreadsheet", { body: odfSheet(words) }) },
    { name: "a.rtf", bytes: strToU8(rtf) },
    { name: "a.epub", bytes: makeEpub(book, { contents: '<a href="b.xhtml">B</a>', head: "<dc:title>T</dc:title>" }) },
    { name: "a.doc", bytes: makeOle("WordDocument") },
  ];
}

/**
 * The sample with one of its members changed and packed again: what a mutation of packed bytes never reaches. Undefined
 * when it is no sound archive.
 */
export function mutateMember(
  sample: Sample,
  change: (member: Sample) => Uint8Array,
  pick: (count: number) => number,
): Sample | undefined {
  if (sample.bytes[0] !== 0x50 || sample.bytes[1] !== 0x4b) return undefined;
  const members = unzipSync(sample.bytes);
  const names = Object.keys(members);
  const name = names[pick(names.length)];
  const bytes = name === undefined ? undefined : members[name];
  if (name === undefined || bytes === undefined || bytes.length === 0) return undefined;
  return { name: sample.name, bytes: makeZip({ ...members, [name]: change({ name, bytes }) }) };
}

/** Office documents made to hurt a reader that unfolds, inflates or recurses. */
export function makeHostileOffice(): Sample[] {
  const deep = (open: string, close = "") => open.repeat(100_000) + close.repeat(100_000);
  const laughs = Array.from({ length: 30 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join("");
  const document = (body: string, head = "") => `${head}<w:document ${WORD}><w:body>${body}</w:body></w:document>`;
  const docx = (name: string, body: string, head = ""): Sample => ({
    name,
    bytes: makeDocx({ body: "", parts: { "word/document.xml": document(body, head) } }),
  });
  const styles = Array.from(
    { length: 2_000 },
    (_, i) => `<w:style w:styleId="s${i}"><w:basedOn w:val="s${(i + 1) % 2_000}"/></w:style>`,
  );
  const megabytes = (count: number, text: string) => text.repeat((count * 1_048_576) / text.length);
  return [
    docx("laughs.docx", "<w:p><w:r><w:t>&l30;</w:t></w:r></w:p>", `<!DOCTYPE d [<!ENTITY l0 "ha">${laughs}]>`),
    docx("deep.docx", deep("<w:p>", "</w:p>")),
    docx("tables.docx", "<w:tbl><w:tr><w:tc>".repeat(300)),
    docx("cells.docx", `<w:tbl><w:tr>${"<w:tc/>".repeat(200_000)}</w:tr></w:tbl>`),
    docx("boxes.docx", `<w:p>${"<w:txbxContent><w:p>".repeat(400)}`),
    docx("fields.docx", `<w:p>${'<w:fldChar w:fldCharType="begin"/>'.repeat(100_000)}</w:p>`),
    docx("attributes.docx", `<w:p ${Array.from({ length: 100_000 }, (_, i) => `a${i}="b"`).join(" ")}/>`),
    docx("names.docx", Array.from({ length: 200_000 }, (_, i) => `<a${i}/>`).join("")),
    docx("large.docx", megabytes(4, wordParagraph("words that go on and on "))),
    {
      name: "circle.docx",
      bytes: makeDocx({
        body: wordParagraph("x", '<w:pStyle w:val="s1"/>'),
        rels: { s: "styles styles.xml", self: "footnotes document.xml" },
        parts: { "word/styles.xml": `<w:styles ${WORD}>${styles.join("")}</w:styles>` },
      }),
    },
    { name: "overlap.docx", bytes: makeOverlappingZip(200) },
    { name: "zeros.docx", bytes: makeZip({ "word/document.xml": new Uint8Array(16 * 1_048_576) }) },
    { name: "same-slide.pptx", bytes: sameSlide() },
    { name: "rows.xlsx", bytes: makeXlsx([{ name: "S", rows: megabytes(4, '<row><c t="str"><v>w</v></c></row>') }]) },
    { name: "wide.xlsx", bytes: makeXlsx([{ name: "S", rows: `<row>${megabytes(2, "<c><v>1</v></c>")}</row>` }]) },
    {
      name: "strings.xlsx",
      bytes: makeXlsx([{ name: "S", rows: "" }], {
        "xl/sharedStrings.xml": `<sst ${SHEET}>${megabytes(4, "<si><t>x</t></si>")}</sst>`,
      }),
    },
    {
      name: "repeated.ods",
      bytes: makeOdf("spreadsheet", {
        body: `<table:table>${'<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row>'.repeat(100)}</table:table>`,
      }),
    },
    { name: "lists.odt", bytes: makeOdf("text", { body: deep("<text:list><text:list-item>") }) },
    {
      name: "notes.odt",
      bytes: makeOdf("text", { body: `<text:p>${"<text:note><text:note-body><text:p>".repeat(300)}` }),
    },
    { name: "groups.rtf", bytes: strToU8(`{\\rtf1${"{\\b ".repeat(200_000)}`) },
    { name: "binary.rtf", bytes: strToU8(`{\\rtf1 ${"\\bin999999999 x".repeat(1_000)}}`) },
    { name: "unicode.rtf", bytes: strToU8(`{\\rtf1 ${"\\uc9999\\u-1 \\u99999999 ".repeat(100_000)}}`) },
    { name: "cells.rtf", bytes: strToU8(`{\\rtf1 ${"\\intbl x\\cell ".repeat(60_000)}}`) },
    { name: "chapters.epub", bytes: sameChapter() },
  ];
}

const ODF_STYLES = `<style:style style:name="P1" style:family="paragraph" style:parent-style-name="P1"/><text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>`;

function sampleDocx(words: string): Uint8Array {
  const cell = `<w:tc>${wordParagraph("cell")}</w:tc>`;
  const body = `${wordParagraph("Head", '<w:pStyle w:val="h"/>')}${wordParagraph(words, '<w:numPr><w:numId w:val="1"/></w:numPr>')}<w:tbl><w:tr>${cell}${cell}</w:tr></w:tbl><w:p><w:r><w:t>x</w:t><w:footnoteReference w:id="1"/></w:r></w:p>`;
  return makeDocx({
    body,
    rels: { s: "styles styles.xml", n: "numbering numbering.xml", f: "footnotes footnotes.xml" },
    parts: {
      "word/styles.xml": `<w:styles ${WORD}><w:style w:styleId="h"><w:name w:val="heading 1"/></w:style></w:styles>`,
      "word/numbering.xml": `<w:numbering ${WORD}><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>`,
      "word/footnotes.xml": `<w:footnotes ${WORD}><w:footnote w:id="1">${wordParagraph("note")}</w:footnote></w:footnotes>`,
    },
  });
}

function samplePptx(words: string): Uint8Array {
  const slide = `${slideShape(["Title"], "title")}${slideShape([words])}<p:graphicFrame><c:chart r:id="c"/></p:graphicFrame>`;
  return makePptx([slide, slideShape(["x"])], {
    "ppt/slides/_rels/slide1.xml.rels": makeRels({ c: "chart ../charts/c.xml" }),
    "ppt/charts/c.xml": `<c:chartSpace ${SLIDE}><c:ser><c:tx><c:v>s</c:v></c:tx><c:val><c:pt><c:v>1</c:v></c:pt></c:val></c:ser></c:chartSpace>`,
  });
}

function sampleXlsx(words: string): Uint8Array {
  const rows = Array.from(
    { length: 60 },
    (_, i) =>
      `<row r="${i + 1}"><c r="A${i + 1}" t="s"><v>0</v></c><c r="B${i + 1}" s="1"><v>${45_000 + i}.5</v></c></row>`,
  );
  return makeXlsx([{ name: "S", rows: rows.join("") }], {
    "xl/sharedStrings.xml": `<sst ${SHEET}><si><t>${words}</t></si></sst>`,
    "xl/styles.xml": `<styleSheet ${SHEET}><cellXfs><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs></styleSheet>`,
  });
}

function odfText(words: string): string {
  return `<text:h text:outline-level="1">H</text:h><text:list text:style-name="L"><text:list-item><text:p>${words}</text:p></text:list-item></text:list><text:p text:style-name="P1">a<text:s text:c="2"/><text:note text:note-class="footnote"><text:note-body><text:p>n</text:p></text:note-body></text:note></text:p><table:table><table:table-row><table:table-cell><text:p>c</text:p></table:table-cell></table:table-row></table:table>`;
}

function odfSheet(words: string): string {
  return `<table:table table:name="S"><table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="float" office:value="1.5"><text:p>1,5</text:p></table:table-cell><table:table-cell table:number-columns-repeated="3" office:value-type="string"><text:p>${words}</text:p></table:table-cell></table:table-row></table:table>`;
}

/** A show of ten thousand times the same slide of a megabyte. */
function sameSlide(): Uint8Array {
  const ids = '<p:sldId r:id="rId1"/>'.repeat(10_000);
  return makePptx([slideShape(["text ".repeat(200_000)])], {
    "ppt/presentation.xml": `<p:presentation ${SLIDE}><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>`,
  });
}

/** A book of fifty thousand times the same chapter, whose text is nothing. */
function sameChapter(): Uint8Array {
  const spine = '<itemref idref="c0"/>'.repeat(50_000);
  const book = makeEpub({ "a.xhtml": "<p></p>".repeat(10_000) });
  const members = unzipSync(book);
  const opf = Buffer.from(members["OEBPS/book.opf"] ?? [])
    .toString()
    .replace(/<itemref[^>]*>/u, spine);
  return makeZip({ ...members, "OEBPS/book.opf": strToU8(opf) });
}
