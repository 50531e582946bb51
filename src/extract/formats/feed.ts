import { xmlEncodingOf } from "#core/encodings/declared.ts";
import { cleanText, oneLine } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { renderFragment } from "#extract/html/render.ts";
import { isoSeconds } from "#extract/iso-time.ts";
import { rfc3339 } from "#extract/office/properties.ts";
import { TextBuilder } from "#extract/text-builder.ts";
import { localName } from "#extract/local-name.ts";
import { parseXml } from "#extract/xml-text.ts";

/**
 * Feeds (RSS, Atom, RDF). Each entry is a section with its title, and its content is read as HTML, which may be escaped, in CDATA, or written as
 * elements. Reads the feed in one pass without a tree. Source: RFC 4287; https://www.rssboard.org/rss-specification
 */
export const feedFormat: Format = {
  extract({ bytes, decode, maxTextLength }): FormatText {
    const decoded = decode(xmlEncodingOf(bytes));
    const source = cleanText(decoded.text);
    const out = new TextBuilder(maxTextLength);
    const reader = new FeedReader(out, maxTextLength);
    parseXml(source, reader, () => out.isFull || reader.isTooDeep);
    reader.end();
    const { title, language, ...properties } = reader.about;
    return out.result({
      properties: { ...properties, entries: String(reader.entries) },
      isCut: decoded.isCut || reader.isTooDeep,
      title,
      language: language?.slice(0, 2).toLowerCase(),
    });
  },
};

const MAX_OPEN = 500;
const MAX_VALUE_LENGTH = 5_000_000;

interface Entry {
  title: string;
  link: string;
  /** Lines such as `Author: Ana`. */
  facts: string[];
  /** HTML texts of the entry, the fullest first. */
  contents: string[];
}

class FeedReader {
  readonly about: Record<string, string> = {};
  entries = 0;
  isTooDeep = false;
  private readonly out: TextBuilder;
  private readonly maxTextLength: number;
  private readonly open: string[] = [];
  private text = "";
  private entry: Entry | undefined;
  private isEscaped = true;
  /** Depth of the element whose child elements are the entry's HTML; 0 = none. */
  private markupAt = 0;

  constructor(out: TextBuilder, maxTextLength: number) {
    this.out = out;
    this.maxTextLength = maxTextLength;
  }

  onopentag(name: string, attributes: Record<string, string>): void {
    this.open.push(name);
    this.isTooDeep ||= this.open.length > MAX_OPEN;
    if (this.markupAt > 0) return void this.add(`<${localName(name)}${attributeText(attributes)}>`);
    if (ENTRIES.has(name)) this.entry = { title: "", link: "", facts: [], contents: [] };
    if (name === "link" && attributes["href"] !== undefined && (attributes["rel"] ?? "alternate") === "alternate")
      this.note("link", attributes["href"]);
    if (name === "category" && attributes["term"] !== undefined)
      this.note("category", attributes["label"] ?? attributes["term"]);
    this.isEscaped = attributes["type"] !== "text" && attributes["type"] !== "text/plain";
    if (attributes["type"] === "xhtml") this.markupAt = this.open.length;
    this.text = "";
  }

  ontext(data: string): void {
    this.add(this.markupAt > 0 ? escaped(data) : data);
  }

  onclosetag(): void {
    const name = this.open.at(-1) ?? "";
    if (this.markupAt > 0 && this.open.length > this.markupAt) this.add(`</${localName(name)}>`);
    else {
      this.markupAt = 0;
      if (ENTRIES.has(name)) this.endEntry();
      else this.note(name, this.text);
      this.text = "";
    }
    this.open.pop();
  }

  end(): void {
    this.endEntry();
  }

  private add(data: string): void {
    if (this.text.length < MAX_VALUE_LENGTH) this.text += data;
  }

  private note(name: string, value: string): void {
    if (value.trim() === "" || LEFT_OUT.has(localName(name))) return;
    const parent = this.open.at(-2) ?? "";
    if (this.entry === undefined) return this.noteFeed(name, parent, value);
    const { entry } = this;
    if (name === "title" && ENTRIES.has(parent)) entry.title = this.lineOf(value);
    else if (name === "link") entry.link ||= webAddress(value);
    else if (CONTENTS.has(name)) entry.contents.push(this.isEscaped ? value : escaped(value));
    else if (entry.facts.length < MAX_FACTS) {
      const label = name === "name" ? parent : localName(name);
      const line = `${label}: ${this.lineOf(value)}`;
      if (!entry.facts.includes(line)) entry.facts.push(line);
    }
  }

  private noteFeed(name: string, parent: string, value: string): void {
    const property = FEED_PROPERTIES.get(name);
    // A title inside the picture of a channel isn't the channel's title.
    if (property === undefined || parent === "image" || parent === "textInput") return;
    const line = this.lineOf(value);
    const date = property === "modified" ? (rfc3339(line) ?? isoDate(line)) : line;
    if (line !== "") this.about[property] ??= date;
  }

  private endEntry(): void {
    const { entry, out } = this;
    this.entry = undefined;
    if (entry === undefined) return;
    if (this.entries === 0) this.writeHead();
    this.entries++;
    const title = entry.title === "" ? `Entry ${this.entries}` : entry.title;
    out.add("\n");
    out.section(title, 2);
    out.add(`## ${title}${entry.link === "" ? "" : ` (${entry.link})`}\n`);
    if (entry.facts.length > 0) out.add(`\n${entry.facts.join("\n")}\n`);
    const written: string[] = [];
    for (const text of entry.contents.map((html) => this.markdownOf(html)).sort((a, b) => b.length - a.length)) {
      if (text === "" || written.some((other) => other.includes(text))) continue;
      written.push(text);
      out.add(`\n${text}\n`);
    }
  }

  private writeHead(): void {
    const { title, description } = this.about;
    if (title !== undefined) {
      this.out.section(title, 1);
      this.out.add(`# ${title}\n`);
    }
    if (description !== undefined) this.out.add(`\n${description}\n`);
  }

  private markdownOf(html: string): string {
    return renderFragment(cleanText(html), this.maxTextLength).toString().trim();
  }

  private lineOf(value: string): string {
    return oneLine(/[<&]/u.test(value) && this.isEscaped ? this.markdownOf(value) : value, 500);
  }
}

const MAX_FACTS = 50;
const ENTRIES = new Set(["item", "entry"]);
const CONTENTS = new Set([
  "description",
  "content:encoded",
  "content",
  "summary",
  "media:description",
  "itunes:summary",
  "itunes:subtitle",
]);
/** Elements with ids of entries or data for programs. */
const LEFT_OUT = new Set(["guid", "id", "comments", "commentRss", "explicit", "episodeType", "post-id"]);
const FEED_PROPERTIES = new Map([
  ["title", "title"],
  ["description", "description"],
  ["subtitle", "description"],
  ["language", "language"],
  ["dc:language", "language"],
  ["link", "link"],
  ["updated", "modified"],
  ["lastBuildDate", "modified"],
  ["name", "author"],
  ["managingEditor", "author"],
  ["dc:creator", "author"],
  ["itunes:author", "author"],
]);

function attributeText(attributes: Record<string, string>): string {
  return Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${escaped(value).replaceAll('"', "&quot;")}"`)
    .join("");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function webAddress(value: string): string {
  return /^https?:\/\/\S{1,2000}$/iu.test(value.trim()) ? value.trim() : "";
}

function isoDate(value: string): string {
  const time = Date.parse(value);
  return Number.isNaN(time) ? value : isoSeconds(time);
}
