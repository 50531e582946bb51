import { TextBuilder } from "#extract/text-builder.ts";
import { AnchorTracker } from "./anchors.ts";
import { MarkdownWriter } from "./markdown-writer.ts";
import { isNoteMark } from "./note-mark.ts";
import { ScopeTracker, type Scope } from "./scope.ts";
import { surveyHtml } from "./survey.ts";
import { SymbolFonts } from "./symbols.ts";
import { walkHtml, type Attributes } from "./walk.ts";

export interface RenderOptions {
  scope: Scope;
  maxTextLength: number;
  /** The result of the survey of the same text. */
  isDataTable: readonly boolean[];
  /** The heading to begin the text with if the part has no heading of its own there. */
  heading?: string;
}

/** Renders all visible text of clean HTML that isn't a page: a chapter, an email, an entry of a feed. */
export function renderFragment(html: string, maxTextLength: number): TextBuilder {
  const { isDataTable } = surveyHtml(html);
  return renderHtml(html, { scope: "everything", maxTextLength, isDataTable });
}

/** Renders the visible text of a part of a page as Markdown, with its headings as sections. */
export function renderHtml(html: string, options: RenderOptions): TextBuilder {
  const out = new TextBuilder(options.maxTextLength);
  const writer = new MarkdownWriter(out);
  if (options.heading !== undefined) {
    out.section(options.heading, 1);
    out.add(`# ${options.heading}\n\n`);
  }
  const scopes = new ScopeTracker();
  const anchors = new AnchorTracker();
  const fonts = new SymbolFonts();
  const ends: ((() => void) | undefined)[] = [];
  const names: string[] = [];
  let tables = 0;
  walkHtml(html, {
    open(name, attributes) {
      scopes.open(name, attributes);
      fonts.open(attributes);
      anchors.open(HEADING.test(name), attributes);
      const isData = name === "table" && options.isDataTable[tables++] === true;
      const parent = names.at(-1);
      names.push(name);
      ends.push(
        scopes.contains(options.scope) ? openElement(writer, anchors, name, attributes, { isData, parent }) : undefined,
      );
      return false;
    },
    close() {
      scopes.close();
      fonts.close();
      names.pop();
      ends.pop()?.();
    },
    text(data) {
      anchors.text(data);
      if (scopes.contains(options.scope)) writer.text(fonts.shown(data));
    },
    isDone: () => out.isFull,
  });
  writer.end();
  return out;
}

const HEADING = /^h([1-6])$/u;

/** Begins an element and returns the function that ends it. */
function openElement(
  writer: MarkdownWriter,
  anchors: AnchorTracker,
  name: string,
  attributes: Attributes,
  { isData, parent }: { isData: boolean; parent: string | undefined },
): (() => void) | undefined {
  const heading = HEADING.exec(name)?.[1];
  if (heading !== undefined) return writer.heading(Number(heading), () => anchors.close());
  switch (name) {
    case "br":
      return void writer.lineBreak();
    case "hr":
      return writer.blockElement();
    case "img":
      return void writer.image(attributes["alt"] ?? "");
    case "a":
      return isNoteMark(attributes, parent) ? writer.noteMark() : writer.link(attributes["href"] ?? "");
    case "ruby":
    case "rt":
      return writer.ruby(name === "rt");
    case "code":
    case "kbd":
    case "samp":
    case "tt":
      return writer.code();
    case "pre":
    case "listing":
    case "xmp":
      return writer.preformatted(languageOf(attributes));
    case "ul":
    case "ol":
    case "menu":
    case "dir":
      return writer.list(name === "ol" ? Number.parseInt(attributes["start"] ?? "1", 10) || 1 : undefined);
    case "li":
      return writer.item();
    case "blockquote":
      return writer.quotation();
    case "table":
      return isData ? writer.table() : writer.blockElement();
    case "tr":
      return writer.row();
    case "td":
    case "th":
      return writer.cell();
    default:
      return BLOCKS.has(name) ? writer.blockElement(PARAGRAPHS.has(name)) : undefined;
  }
}

function languageOf(attributes: Attributes): string {
  return (
    /(?:^|\s)(?:language|lang|highlight-source|brush:)[-\s]?([\w+#-]{1,20})/u.exec(attributes["class"] ?? "")?.[1] ?? ""
  );
}

/** Elements that have vertical space around them. */
const PARAGRAPHS = new Set(
  "p dl figure table section article main header footer aside form fieldset details address caption".split(" "),
);
/** Elements that begin a new line. */
const BLOCKS = new Set([
  ...PARAGRAPHS,
  ..."div dt dd figcaption thead tbody tfoot summary legend center hgroup search option optgroup body html".split(" "),
]);
