import { xmlEncodingOf } from "#core/encodings/declared.ts";
import { cleanText, oneLine, singleSpaced } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { isBase64, isBase64Text, saysBase64 } from "./base64.ts";
import { readXmlBook } from "./xml-book.ts";
import { renderFragment } from "#extract/html/render.ts";
import { isBook } from "#extract/xml-kind.ts";
import { TextBuilder } from "#extract/text-builder.ts";
import { localName } from "#extract/local-name.ts";
import { parseXml } from "#extract/xml-text.ts";

/**
 * XML: the text of its elements, one line each, and the meaningful attributes. Reads it in one pass without a tree. Only the five entities of XML and
 * numeric characters are decoded, so no entity can expand. Source: S44.
 */
export const xmlFormat: Format = {
  extract({ bytes, decode, maxTextLength }): FormatText {
    const decoded = decode(xmlEncodingOf(bytes));
    const book = readBook(cleanText(decoded.text), maxTextLength);
    if (book !== undefined) return { ...book, isCut: book.isCut === true || decoded.isCut };
    const out = new TextBuilder(maxTextLength);
    const writer = new XmlWriter(out);
    const source = cleanText(decoded.text);
    parseXml(source, writer, () => out.isFull || writer.isTooDeep);
    const { title, properties, isTooDeep } = writer;
    return out.result({ properties, isCut: decoded.isCut || isTooDeep, title });
  },
};

/** Renders a prose document as Markdown; undefined for data. */
function readBook(source: string, maxTextLength: number): FormatText | undefined {
  if (!isBook(source.slice(0, 4_096))) return undefined;
  const { html, language = "", ...book } = readXmlBook(source);
  const code = /^[a-z]{2}$/u.exec(language)?.[0];
  return renderFragment(html, maxTextLength).result({ ...book, language: code });
}

const MAX_OPEN = 2_000;
const MAX_INDENT = 6;
const MAX_HELD_LENGTH = 100_000;

interface Open {
  name: string;
  text: string;
  /** Whether its attributes have been written. */
  hasLine: boolean;
  /** Whether it is inline, so that its words belong to those of its parent. */
  isInline: boolean;
  /** An element without child elements that has just ended. If words follow, it is inline. */
  held?: { name: string; text: string };
  isLeaf: boolean;
  /** Whether it declares base64 content. */
  isBytes: boolean;
}

class XmlWriter {
  title: string | undefined;
  readonly properties: Record<string, string> = {};
  /** Whether the elements are nested deeper than in any real document; the rest isn't read. */
  isTooDeep = false;
  private readonly out: TextBuilder;
  private readonly open: Open[] = [];

  constructor(out: TextBuilder) {
    this.out = out;
  }

  onopentag(name: string, attributes: Record<string, string>): void {
    this.isTooDeep ||= this.open.length > MAX_OPEN;
    const top = this.open.at(-1);
    const isInline = top !== undefined && (top.isInline || top.text.trim() !== "");
    if (top !== undefined) top.isLeaf = false;
    let hasLine = false;
    if (!isInline) {
      this.release();
      const words = Object.entries(attributes)
        .filter(([key, value]) => isWorthReading(key, value))
        .map(([key, value]) => `${key}: ${singleSpaced(value)}`);
      const label = attributes["name"] ?? attributes["title"] ?? attributes["id"] ?? "";
      if (this.open.length === 1 && label !== "") this.out.section(label, 1);
      hasLine = words.length > 0;
      if (hasLine) this.line(`${localName(name)}: ${words.join(", ")}`, this.open.length);
    }
    this.open.push({
      name,
      text: "",
      hasLine,
      isInline,
      isLeaf: true,
      isBytes: saysBase64(name, attributes, this.open[0]?.name),
    });
  }

  ontext(data: string): void {
    const top = this.open.at(-1);
    if (top === undefined) return;
    if (top.held !== undefined && data.trim() !== "") {
      top.text += top.held.text;
      delete top.held;
    }
    // The rows of a long file have only line breaks between them. Keeping one is enough; otherwise all would be examined for each row.
    if (top.text.at(-1)?.trim() === "" && data.trim() === "") return;
    top.text += data;
    // A text without child elements may be the whole file.
    if (top.text.length > MAX_HELD_LENGTH && !top.isInline) this.flush(top);
  }

  onclosetag(): void {
    const top = this.open.at(-1);
    if (top === undefined) return;
    const parent = this.open.at(-2);
    if (top.isBytes && isBase64Text(top.text)) top.text = "";
    if (top.isInline && parent !== undefined)
      parent.text += PARTS_WORDS.test(top.name) ? ` ${top.text}` : isBase64(top.text) ? "" : top.text;
    else {
      this.release();
      if (parent !== undefined && top.isLeaf && !top.hasLine && top.text.length < MAX_HELD_LENGTH) {
        if (top.text.trim() !== "") parent.held = { name: top.name, text: top.text };
      } else this.flush(top);
    }
    this.open.pop();
  }

  onend(): void {
    while (this.open.length > 0) this.onclosetag();
  }

  /** Writes the text that was held back in case words would follow. */
  private release(): void {
    const top = this.open.at(-1);
    if (top?.held === undefined) return;
    const { name, text } = top.held;
    delete top.held;
    this.write(name, text, false, this.open.length + 1);
  }

  /** Writes the text of the innermost element so far, after the element's name. */
  private flush(top: Open): void {
    const { text } = top;
    top.text = "";
    this.write(top.name, text, top.hasLine, this.open.length);
    top.hasLine ||= text.trim() !== "";
  }

  private write(qualified: string, raw: string, hasLine: boolean, depth: number): void {
    const text = raw.replaceAll(/[ \t]*\n\s*/gu, "\n").trim();
    if (text === "" || isBase64(text)) return;
    const name = localName(qualified);
    if (depth <= 3) this.note(name, text);
    this.line(`${hasLine ? "" : `${name}: `}${text}`, depth - (hasLine ? 0 : 1));
  }

  private note(name: string, text: string): void {
    const property = Object.hasOwn(PROPERTIES, name.toLowerCase()) ? PROPERTIES[name.toLowerCase()] : undefined;
    if (property === "title") this.title ??= oneLine(text, 300);
    else if (property !== undefined) this.properties[property] ??= oneLine(text, 500);
  }

  private line(text: string, depth: number): void {
    const indent = "  ".repeat(Math.min(Math.max(0, depth - 1), MAX_INDENT));
    this.out.add(`${indent}${text.replaceAll("\n", `\n${indent}  `)}\n`);
  }
}

/** Elements for line breaks and tabs, which separate words without a space. */
const PARTS_WORDS = /(?:^|:)(?:br|lb|pb|cr|tab|line-?break|break|newline|nl)$/iu;

/** Names of elements near the root that contain the title, author and so on, in documents of many kinds. */
const PROPERTIES: Readonly<Record<string, string>> = {
  title: "title",
  author: "author",
  creator: "author",
  description: "description",
  subtitle: "description",
  artifactid: "name",
  pubdate: "created",
  updated: "modified",
};

/** Whether an attribute is worth reading: names, links and words are, but namespaces, colours and coordinates aren't. */
function isWorthReading(key: string, value: string): boolean {
  if (/^xmlns(?::|$)|^xsi:|:space$/u.test(key) || value.trim() === "") return false;
  if (value.startsWith("data:") || isBase64(value)) return false;
  return /\p{L}{2}/u.test(value) || /^\d{2,}$/u.test(value.trim());
}
