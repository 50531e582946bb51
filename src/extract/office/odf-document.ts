import { blocksText, type Block, type BlockWriter } from "./blocks.ts";
import { commentLine } from "./comment-line.ts";
import type { OdfFile } from "./odf-file.ts";
import { OdfStyles } from "./odf-styles.ts";
import { OdfText, type OdfComment, type OdfNote } from "./odf-text.ts";
import type { XmlHandler } from "./xml.ts";

/** Makes a reader for the text of a document, whose styles are already known. */
export function makeOdfText(file: OdfFile, writer: BlockWriter): { text: OdfText; styles: OdfStyles } {
  const styles = new OdfStyles();
  file.walk("styles", stylesReader(styles));
  return { styles, text: new OdfText({ writer, styles, object: (href) => readOdfObject(file, href, writer) }) };
}

/** Reads the text of an object inside the document: titles and data of a chart, or the characters of a formula. */
export function readOdfObject(file: OdfFile, href: string, writer: BlockWriter): Block[] {
  const text = new OdfText({ writer, styles: new OdfStyles(), object: () => [] });
  let formula = "";
  let isSign = false;
  writer.beginCapture();
  file.walkObject(href, {
    open(name, attributes) {
      isSign = SIGNS.has(name);
      return text.open(name, attributes);
    },
    text(data) {
      if (isSign && formula.length < 10_000) formula += `${data.trim()} `;
      text.text(data);
    },
    close(name) {
      isSign = false;
      text.close(name);
    },
    isDone: () => text.isDone(),
  });
  writer.paragraph(formula);
  return writer.endCapture();
}

/** Makes a reader that passes the content of the body to the handler, and everything before it to the styles. */
export function bodyReader(styles: OdfStyles, handler: Required<XmlHandler>): XmlHandler {
  let isInBody = false;
  return {
    open(name, attributes) {
      if (name === "office:body") isInBody = true;
      if (isInBody) return handler.open(name, attributes);
      styles.open(name, attributes);
    },
    text: (data) => void (isInBody && handler.text(data)),
    close(name) {
      if (name === "office:body") isInBody = false;
      if (isInBody) handler.close(name);
      else styles.close(name);
    },
    isDone: () => handler.isDone(),
  };
}

/** Reads the lines of the headers and footers on a document's pages, each line once. */
export function readHeadersAndFooters(file: OdfFile, text: OdfText): string[] {
  const { writer } = text;
  const lines = new Set<string>();
  let depth = 0;
  file.walk("styles", {
    open(name, attributes) {
      if (name === "office:body") return true;
      if (depth > 0 || PAGE_PARTS.has(name)) depth++;
      if (depth === 1 && PAGE_PARTS.has(name)) {
        // A disabled header or footer stays in the file.
        if (attributes["style:display"] === "false") {
          depth = 0;
          return true;
        }
        writer.beginCapture();
      } else if (depth > 1 && text.open(name, attributes) === true) {
        depth--;
        return true;
      }
    },
    text: (data) => void (depth > 1 && text.text(data)),
    close(name) {
      if (depth > 1) text.close(name);
      else if (depth === 1) for (const block of writer.endCapture()) lines.add(blocksText([block]));
      depth = Math.max(0, depth - 1);
    },
    isDone: () => text.isDone() && depth === 0,
  });
  lines.delete("");
  return [...lines];
}

/** Formats a note with its mark in the text. */
export function noteLine({ id, blocks }: OdfNote): string {
  return `[^${id}]: ${blocksText(blocks)}`;
}

/** Formats comments as lines: author, date, text. */
export function odfCommentLines(comments: readonly OdfComment[]): string[] {
  return comments.flatMap(({ author, date, blocks }) => {
    const text = blocksText(blocks);
    return text === "" ? [] : [commentLine(author, date, text)];
  });
}

const SIGNS = new Set(["mi", "mn", "mo", "mtext", "math:mi", "math:mn", "math:mo", "math:mtext"]);
const PAGE_PARTS = new Set([
  "style:header",
  "style:footer",
  "style:header-left",
  "style:footer-left",
  "style:header-first",
  "style:footer-first",
]);

function stylesReader(styles: OdfStyles): XmlHandler {
  return {
    open(name, attributes) {
      if (name === "office:body") return true;
      styles.open(name, attributes);
    },
    close: (name) => styles.close(name),
  };
}
