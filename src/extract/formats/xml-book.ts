import { oneLine } from "#extract/clean.ts";
import { localName } from "#extract/local-name.ts";
import { parseXml } from "#extract/xml-text.ts";
import { isBase64 } from "./base64.ts";

/** The content of a prose XML document as HTML, and its metadata. */
export interface XmlBook {
  html: string;
  title: string | undefined;
  language: string | undefined;
  properties: Record<string, string>;
  isCut: boolean;
}

/**
 * Converts the elements of DocBook, DITA, FictionBook, TEI and JATS to those of HTML in one pass: titles by their depth, paragraphs, lists, tables,
 * code, links. Base64 pictures and indexes are left out.
 */
export function readXmlBook(source: string): XmlBook {
  const reader = new BookReader();
  parseXml(source, reader, () => reader.book.isCut);
  reader.book.html = reader.parts.join("");
  return reader.book;
}

const MAX_OPEN = 500;

class BookReader {
  readonly book: XmlBook = { html: "", title: undefined, language: undefined, properties: {}, isCut: false };
  readonly parts: string[] = [];
  private readonly open: { name: string; end: string; isLeftOut: boolean }[] = [];
  private depth = 0;
  private text = "";
  private person = { given: "", family: "" };

  onopentag(qualified: string, attributes: Record<string, string>): void {
    this.flush();
    const name = localName(qualified);
    const parent = this.open.at(-1);
    this.book.isCut ||= this.open.length > MAX_OPEN;
    const isLeftOut = parent?.isLeftOut === true || LEFT_OUT.has(name) || isBinary(attributes);
    const language = attributes["xml:lang"] ?? attributes["lang"];
    if (this.open.length === 0 && language !== undefined) this.book.language = language.slice(0, 2).toLowerCase();
    if (SECTIONS.has(name)) this.depth++;
    // A line of the printed text may end within a word.
    const isInWord = attributes["break"] === "no";
    const tag = isLeftOut || isInWord ? undefined : this.tagOf(name, parent?.name);
    const href =
      tag === "a"
        ? (attributes["url"] ?? attributes["href"] ?? attributes["xlink:href"] ?? attributes["l:href"])
        : undefined;
    if (tag !== undefined) this.parts.push(href === undefined ? `<${tag}>` : `<a href="${escaped(href)}">`);
    // The number of a note isn't part of the word before it.
    const isNote = tag === "a" && attributes["type"] === "note";
    if (isNote) this.parts.push("[");
    this.open.push({ name, end: `${isNote ? "]" : ""}${tag === undefined ? "" : `</${tag}>`}`, isLeftOut });
  }

  ontext(data: string): void {
    this.text += data;
  }

  onclosetag(): void {
    const words = this.text;
    this.flush();
    const closed = this.open.pop();
    if (closed === undefined) return;
    if (SECTIONS.has(closed.name)) this.depth--;
    this.parts.push(GIVEN.has(closed.name) || FAMILY.has(closed.name) ? `${closed.end} ` : closed.end);
    this.note(closed.name, words);
    this.notePerson(closed.name, words);
  }

  private flush(): void {
    const { text } = this;
    this.text = "";
    if (text !== "" && this.open.at(-1)?.isLeftOut !== true && !isBase64(text)) this.parts.push(escaped(text));
  }

  private tagOf(name: string, parent: string | undefined): string | undefined {
    if (
      name === "head"
        ? parent !== "table"
        : TITLES.has(name) && parent !== "table" && parent !== "tgroup" && parent !== "figure"
    )
      return INFOS.has(parent ?? "") ? "p" : `h${Math.min(6, Math.max(1, this.depth))}`;
    return TAGS.get(name);
  }

  private notePerson(name: string, words: string): void {
    const { person } = this;
    if (GIVEN.has(name)) person.given = `${person.given} ${words.trim()}`.slice(0, 200);
    else if (FAMILY.has(name)) person.family = words.trim().slice(0, 200);
    else if (PERSONS.has(name)) {
      const whole = oneLine(`${person.given} ${person.family}`, 300);
      if (whole !== "" && this.open.some(({ name: outer }) => INFOS.has(outer)))
        this.book.properties["author"] ??= whole;
      this.person = { given: "", family: "" };
    }
  }

  private note(name: string, words: string): void {
    const line = oneLine(words, 300);
    const property = PROPERTIES.get(name);
    if (line === "") return;
    if (TITLES.has(name) || name === "head") this.book.title ??= line;
    else if (name === "p" && this.open.at(-1)?.name === "title") this.book.title ??= line;
    else if (name === "lang" || name === "language") this.book.language ??= line.slice(0, 2).toLowerCase();
    else if (property !== undefined && this.open.some(({ name: outer }) => INFOS.has(outer)))
      this.book.properties[property] ??= line;
  }
}

const list = (words: string) => new Set(words.split(" "));
const SECTIONS = list(
  "concept topic task reference glossentry troubleshooting book article chapter part section sect1 sect2 sect3 sect4 sect5 sec appendix preface refentry refsect1 refsect2 FictionBook body div div1 div2 div3 bibliography glossary",
);
const TITLES = list("title book-title article-title bridgehead glossterm");
const INFOS = list(
  "info bookinfo articleinfo title-info document-info publish-info titleStmt fileDesc article-meta title-group prolog sourceDesc front",
);
const PERSONS = list("author translator editor name persName personname contrib");
const GIVEN = list("first-name middle-name firstname othername given-names forename");
const FAMILY = list("last-name surname");
const LEFT_OUT = list(
  "binary binaryObject imagedata indexterm encodingDesc revisionDesc document-info draft-comment required-cleanup remark",
);
const TAGS = new Map(
  Object.entries({
    p: "para p simpara formalpara shortdesc annotation subtitle v author editor ab note tip warning caution important cmd info result postreq prereq abstract blockquote epigraph text-author byline caption lb date publisher year keyword",
    ul: "itemizedlist simplelist ul sl choices",
    ol: "orderedlist procedure ol steps substeps",
    li: "listitem step li sli item substep choice member",
    dl: "variablelist dl",
    dt: "term dt",
    dd: "dd",
    table: "table informaltable simpletable",
    tr: "row tr strow sthead",
    td: "entry td stentry cell th",
    pre: "programlisting screen literallayout codeblock pre msgblock poem",
    a: "ulink link xref a ref ext-link",
    code: "code literal codeph filename command",
  }).flatMap(([tag, names]) => names.split(" ").map((name): [string, string] => [name, tag])),
);
const PROPERTIES = new Map([
  ["author", "author"],
  ["date", "date"],
  ["pubdate", "date"],
  ["genre", "genre"],
  ["keywords", "keywords"],
]);

function isBinary(attributes: Record<string, string>): boolean {
  return /base64/iu.test(attributes["encoding"] ?? attributes["dt:dt"] ?? attributes["xsi:type"] ?? "");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
