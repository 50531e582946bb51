import type { Format, FormatInput, FormatResult } from "#extract/format.ts";
import { BlockWriter } from "#extract/office/blocks.ts";
import { propertyReader, resultProperties, type DocumentProperties } from "#extract/office/properties.ts";
import { makeWordNumbering } from "#extract/office/word-numbering.ts";
import { makeWordStyles } from "#extract/office/word-styles.ts";
import { WordText } from "#extract/office/word-text.ts";
import { walkXml, xmlFromBytes, type XmlHandler } from "#extract/office/xml.ts";
import { TextBuilder } from "#extract/text-builder.ts";

/** Word's XML format of 2003: a single XML file that contains everything. Its text has the same elements as today's format. */
export const word2003Format: Format = {
  extract: readDocument,
};

function readDocument({ bytes, maxTextLength, hasTime }: FormatInput): FormatResult {
  const out = new TextBuilder(maxTextLength);
  const writer = new BlockWriter(out, hasTime);
  const styles = makeWordStyles();
  const properties: DocumentProperties = {};
  walkXml(xmlFromBytes(bytes), onlyIn("w:styles", styles.handler));
  walkXml(xmlFromBytes(bytes), onlyIn("o:DocumentProperties", propertyReader(properties, PROPERTIES)));
  const text = new WordText({
    writer,
    styles,
    numbering: makeWordNumbering(),
    relationships: new Map(),
    found: () => [],
  });
  walkXml(xmlFromBytes(bytes), onlyIn("w:body", withBoxes(text)));
  writer.end();
  return out.result({ isCut: writer.isFull, ...resultProperties(properties) });
}

/** Passes on only the content of elements of that name, at any depth. */
function onlyIn(element: string, handler: XmlHandler): XmlHandler {
  let depth = 0;
  return {
    open(name, attributes) {
      if (depth > 0 || name === element) depth++;
      return depth > 1 ? handler.open?.(name, attributes) === true && depth-- > 0 : undefined;
    },
    text: (data) => void (depth > 0 && handler.text?.(data)),
    close(name) {
      if (depth > 1) handler.close?.(name);
      depth = Math.max(0, depth - 1);
    },
    isDone: () => handler.isDone?.() === true,
  };
}

/** Notes, headers and footers are in the text where they are referenced. They are written after the paragraph, like text boxes. */
function withBoxes(text: WordText): XmlHandler {
  return {
    open(name, attributes) {
      if (BOXES.has(name)) return text.beginBox();
      if (name === "w:hlink") return text.beginLinkTo(attributes["w:dest"]);
      return text.open(name, attributes);
    },
    text: (data) => text.text(data),
    close(name) {
      if (BOXES.has(name)) text.endBox();
      else if (name === "w:hlink") text.endLink();
      else text.close(name);
    },
    isDone: () => text.isDone(),
  };
}

const BOXES = new Set(["w:footnote", "w:endnote", "w:hdr", "w:ftr"]);

const PROPERTIES = new Map([
  ["o:Title", "title"],
  ["o:Author", "author"],
  ["o:Subject", "subject"],
  ["o:Keywords", "keywords"],
  ["o:Category", "category"],
  ["o:LastAuthor", "lastModifiedBy"],
  ["o:Created", "created"],
  ["o:LastSaved", "modified"],
  ["o:Company", "company"],
]);
