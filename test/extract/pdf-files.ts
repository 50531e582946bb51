import { bytesOf, pdfOf } from "./documents.ts";

export interface PageParts {
  /** Of the page's content stream. */
  content?: string;
  /** The font that the content calls F1; Helvetica unless told. */
  font?: string;
  /** Dictionaries without their brackets. */
  annotations?: readonly string[];
  /** More entries of the catalog. */
  catalog?: string;
  /** Objects from number 6 on. */
  more?: readonly string[];
}

const HELVETICA = "/Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding";

/** A PDF of one page made of these parts. */
export function makePage({ content = "", font = HELVETICA, annotations = [], catalog = "", more = [] }: PageParts) {
  const annots = annotations
    .map((one) => `<< /Type /Annot ${one.includes("/Rect") ? "" : "/Rect [50 700 300 720]"} ${one} >>`)
    .join(" ");
  return pdfOf([
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R /Annots [${annots}] >>`,
    `<< ${font} >>`,
    stream(content),
    ...more,
  ]);
}

/** Lines below each other. */
export function linesOf(lines: readonly string[]): string {
  return `BT /F1 12 Tf 14 TL 72 720 Td ${lines.map((line) => `(${line}) Tj T*`).join(" ")} ET`;
}

/** A page whose font is not in the file and whose codes are those of a table that readers know by name. */
export function makeAsianPage(encoding: string, ordering: string, bytes: Uint8Array): Uint8Array {
  const info = `<< /Registry (Adobe) /Ordering (${ordering}) /Supplement 2 >>`;
  const descendant = `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Any /CIDSystemInfo ${info} /FontDescriptor 6 0 R >>`;
  return makePage({
    content: `BT /F1 12 Tf 72 720 Td <${Buffer.from(bytes).toString("hex")}> Tj ET`,
    font: `/Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /${encoding} /DescendantFonts [${descendant}]`,
    more: ["<< /Type /FontDescriptor /FontName /Any /Flags 4 /FontBBox [0 -200 1000 900] /Ascent 800 /Descent -200 >>"],
  });
}

export function stream(content: string, head = ""): string {
  return `<< ${head} /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

/** Bytes with others before them. */
export function after(before: string, bytes: Uint8Array): Uint8Array {
  return Uint8Array.from([...bytesOf(before, "latin1"), ...bytes]);
}
