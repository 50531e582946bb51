import { makeZip } from "./zip-files.ts";

/** Relationships: `rId1: "styles styles.xml"`, and `rId2: "hyperlink https://…"` for addresses. */
export function makeRels(targets: Readonly<Record<string, string>>): string {
  const rows = Object.entries(targets).map(([id, value]) => {
    const [type = "", target = ""] = value.split(" ");
    const mode = target.startsWith("http") ? ' TargetMode="External"' : "";
    return `<Relationship Id="${id}" Type="${OFFICE}/relationships/${type}" Target="${target}"${mode}/>`;
  });
  return `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${rows.join("")}</Relationships>`;
}

const OPEN_XML = "http://schemas.openxmlformats.org";
const OFFICE = `${OPEN_XML}/officeDocument/2006`;
export const WORD = `xmlns:w="${OPEN_XML}/wordprocessingml/2006/main" xmlns:r="${OFFICE}/relationships" xmlns:mc="${OPEN_XML}/markup-compatibility/2006" xmlns:wp="${OPEN_XML}/drawingml/2006/wordprocessingDrawing" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:m="${OFFICE}/math"`;
export const SLIDE = `xmlns:p="${OPEN_XML}/presentationml/2006/main" xmlns:a="${OPEN_XML}/drawingml/2006/main" xmlns:r="${OFFICE}/relationships" xmlns:c="${OPEN_XML}/drawingml/2006/chart" xmlns:dgm="${OPEN_XML}/drawingml/2006/diagram"`;
export const SHEET = `xmlns="${OPEN_XML}/spreadsheetml/2006/main" xmlns:r="${OFFICE}/relationships"`;

export function contentTypes(mainType: string): string {
  return `<Types xmlns="${OPEN_XML}/package/2006/content-types"><Override PartName="/main.xml" ContentType="${mainType}.main+xml"/></Types>`;
}

export interface WordParts {
  body: string;
  /** Relationships of the document, as for `makeRels`. */
  rels?: Record<string, string>;
  parts?: Record<string, string | Uint8Array>;
  mainType?: string;
}

/** A Word document around the body of its text part. */
export function makeDocx({ body, rels = {}, parts = {}, mainType }: WordParts): Uint8Array {
  return makeZip({
    "[Content_Types].xml": contentTypes(
      mainType ?? "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    "_rels/.rels": makeRels({ rId1: "officeDocument word/document.xml", rId2: "core-properties docProps/core.xml" }),
    "word/document.xml": `<?xml version="1.0"?><w:document ${WORD}><w:body>${body}</w:body></w:document>`,
    "word/_rels/document.xml.rels": makeRels(rels),
    ...parts,
  });
}

/** A paragraph of Word with one run. */
export function wordParagraph(text: string, properties = ""): string {
  return `<w:p>${properties === "" ? "" : `<w:pPr>${properties}</w:pPr>`}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

/** A presentation of slides given by the content of their shape trees; further parts by name. */
export function makePptx(slides: readonly string[], parts: Record<string, string> = {}): Uint8Array {
  const ids = slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`).join("");
  const rels = Object.fromEntries(slides.map((_, index) => [`rId${index + 1}`, `slide slides/slide${index + 1}.xml`]));
  const files = slides.map((slide, index): [string, string] => [
    `ppt/slides/slide${index + 1}.xml`,
    slide.startsWith("<p:sld ") ? slide : `<p:sld ${SLIDE}><p:cSld><p:spTree>${slide}</p:spTree></p:cSld></p:sld>`,
  ]);
  return makeZip({
    "[Content_Types].xml": contentTypes("application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    "_rels/.rels": makeRels({ rId1: "officeDocument ppt/presentation.xml" }),
    "ppt/presentation.xml": `<p:presentation ${SLIDE}><p:sldIdLst>${ids}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": makeRels({ ...rels, authors: "commentAuthors commentAuthors.xml" }),
    ...Object.fromEntries(files),
    ...parts,
  });
}

/** A shape of a slide with a paragraph for each text; `place` is that of the layout. */
export function slideShape(texts: readonly string[], place?: string): string {
  const paragraphs = texts.map((text) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`).join("");
  const mark = place === undefined ? "" : `<p:ph type="${place}"/>`;
  return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:nvPr>${mark}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs}</p:txBody></p:sp>`;
}

/** A workbook of sheets given by the rows of their data: `<row>…</row>`; further parts by name. */
export function makeXlsx(
  sheets: readonly { name: string; rows: string; state?: string; before?: string; after?: string }[],
  parts: Record<string, string> = {},
): Uint8Array {
  const list = sheets.map(
    ({ name, state = "visible" }, index) =>
      `<sheet name="${name}" sheetId="${index + 1}" state="${state}" r:id="rId${index + 1}"/>`,
  );
  const rels = Object.fromEntries(
    sheets.map((_, index) => [`rId${index + 1}`, `worksheet worksheets/sheet${index + 1}.xml`]),
  );
  const files = sheets.map(({ rows, before = "", after = "" }, index): [string, string] => [
    `xl/worksheets/sheet${index + 1}.xml`,
    `<worksheet ${SHEET}>${before}<sheetData>${rows}</sheetData>${after}</worksheet>`,
  ]);
  return makeZip({
    "[Content_Types].xml": contentTypes("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "_rels/.rels": makeRels({ rId1: "officeDocument xl/workbook.xml" }),
    "xl/workbook.xml": `<workbook ${SHEET}><sheets>${list.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": makeRels({
      ...rels,
      strings: "sharedStrings sharedStrings.xml",
      styles: "styles styles.xml",
    }),
    ...Object.fromEntries(files),
    ...parts,
  });
}

const ODF = "office text table draw presentation style meta number chart manifest form"
  .split(" ")
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(" ");
const ODF_NAMES = `${ODF} xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"`;

export interface OdfParts {
  /** What is inside `office:text`, `office:spreadsheet` or `office:presentation`. */
  body: string;
  styles?: string;
  /** The part with page styles, inside its root. */
  pages?: string;
  meta?: string;
  parts?: Record<string, string>;
}

/** An OpenDocument file. */
export function makeOdf(kind: "text" | "spreadsheet" | "presentation", odf: OdfParts): Uint8Array {
  const { body, styles = "", pages = "", meta = "", parts = {} } = odf;
  return makeZip({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    "content.xml": `<office:document-content ${ODF_NAMES}><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    "styles.xml": `<office:document-styles ${ODF_NAMES}>${pages}</office:document-styles>`,
    "meta.xml": `<office:document-meta ${ODF_NAMES}><office:meta>${meta}</office:meta></office:document-meta>`,
    ...parts,
  });
}

/** The same as one XML document. */
export function makeFlatOdf(kind: string, { body, styles = "", meta = "" }: OdfParts): string {
  return `<?xml version="1.0"?><office:document ${ODF_NAMES} office:mimetype="application/vnd.oasis.opendocument.${kind}"><office:meta>${meta}</office:meta><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document>`;
}

/** A book of chapters; `head` is metadata of the package. */
export function makeEpub(
  chapters: Readonly<Record<string, string>>,
  { head = "", contents = "", parts = {} }: { head?: string; contents?: string; parts?: Record<string, string> } = {},
): Uint8Array {
  const names = Object.keys(chapters);
  const items = names.map((name, index) => `<item id="c${index}" href="${name}" media-type="application/xhtml+xml"/>`);
  const spine = names.map((_, index) => `<itemref idref="c${index}"/>`);
  return makeZip({
    mimetype: "application/epub+zip",
    "META-INF/container.xml": `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
    "OEBPS/book.opf": `<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>${head}</metadata><manifest><item id="nav" properties="nav" href="nav.xhtml" media-type="application/xhtml+xml"/>${items.join("")}</manifest><spine>${spine.join("")}</spine></package>`,
    "OEBPS/nav.xhtml": `<html xmlns="http://www.w3.org/1999/xhtml"><body><nav>${contents}</nav></body></html>`,
    ...Object.fromEntries(
      Object.entries(chapters).map(([name, body]) => [
        `OEBPS/${name}`,
        `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>${body}</body></html>`,
      ]),
    ),
    ...parts,
  });
}

/** An OLE file as far as detection looks: its mark, and a directory entry of that name. */
export function makeOle(stream: string): Uint8Array {
  const bytes = Buffer.alloc(2_048);
  bytes.write("d0cf11e0a1b11ae1", "hex");
  bytes.write(`${stream}\0`, 1_024, "utf16le");
  bytes.writeUInt16LE((stream.length + 1) * 2, 1_024 + 64);
  return bytes;
}
