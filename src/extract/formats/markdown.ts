import { countLineFeeds } from "#text/sections.ts";
import { cleanText, oneLine } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { TextBuilder } from "#extract/text-builder.ts";
import { readFrontMatter } from "./front-matter.ts";

/**
 * Markdown stays as it was written, except what must not be text: comments, and remote images, which would make a
 * reading program call home, become `[image: alt]`. Front matter becomes properties. Source: S45.
 */
export const markdownFormat: Format = {
  async extract({ decode, maxTextLength }): Promise<FormatText> {
    const decoded = decode();
    const text = cleanText(decoded.text);
    const front = await readFrontMatter(text);
    const out = new TextBuilder(maxTextLength);
    copyBody(text.slice(front.end), out);
    const title = front.title ?? out.sections.find((section) => section.level === 1)?.name;
    return {
      state: "ok",
      text: out.toString(),
      sections: out.sections,
      firstLine: 1 + countLineFeeds(text.slice(0, front.end)),
      properties: front.properties,
      isCut: decoded.isCut || out.isFull,
      ...(title === undefined ? {} : { title }),
      ...(front.language === undefined ? {} : { language: front.language }),
    };
  },
};

/** A line as it is written out, and where. */
interface Line {
  text: string;
  offset: number;
}

/** Line by line. What stays as it is, is copied in long runs: a piece per line costs more than reading it. */
function copyBody(body: string, out: TextBuilder): void {
  let fence: string | undefined;
  let isInComment = false;
  let previous: Line = { text: "", offset: 0 };
  let runStart = 0;
  for (let start = 0; start < body.length && !out.isFull;) {
    const lineFeed = body.indexOf("\n", start);
    const end = lineFeed < 0 ? body.length : lineFeed + 1;
    const line = body.slice(start, end);
    let text = line;
    if (fence !== undefined) {
      if (line.trim().startsWith(fence)) fence = undefined;
    } else {
      if (isInComment || line.includes("<!--")) [text, isInComment] = withoutComments(line, isInComment);
      fence = /^ {0,3}(`{3,}|~{3,})/u.exec(text)?.[1];
      if (fence === undefined && text.includes("![")) text = replaceRemoteImages(text);
    }
    const current: Line = { text, offset: out.offset + start - runStart };
    if (fence === undefined) markHeading(current, previous, out);
    if (text !== line) {
      out.addClean(body.slice(runStart, start));
      out.addClean(text);
      runStart = end;
    }
    previous = current;
    start = end;
  }
  out.addClean(body.slice(runStart));
}

function markHeading({ text: line, offset }: Line, previous: Line, out: TextBuilder): void {
  const first = line.charCodeAt(0);
  if (first === HASH) {
    const heading = /^(#{1,6})[ \t]+(.*?)[ \t]*#*\s*$/u.exec(line);
    if (heading?.[1] !== undefined && heading[2] !== undefined)
      out.section(plainHeading(heading[2]), heading[1].length, offset);
  } else if ((first === EQUALS || first === DASH) && /\S/u.test(previous.text) && /^(?:={2,}|-{2,})\s*$/u.test(line)) {
    // The heading is the line above, unless that is a list, a table or a quotation.
    if (!/^\s*(?:[-*+|>]|\d+[.)])/u.test(previous.text)) {
      out.section(plainHeading(previous.text), first === EQUALS ? 1 : 2, previous.offset);
    }
  }
}

const HASH = 0x23;
const EQUALS = 0x3d;
const DASH = 0x2d;

/** A heading without its marks: links by their words, no emphasis, no code marks, no tags. */
function plainHeading(text: string): string {
  return oneLine(
    text
      .slice(0, 1_000)
      .replace(/!?\[([^\]]*)\]\([^)]*\)/gu, "$1")
      .replace(/<[^>]*>/gu, "")
      .replace(/[*_`]{1,3}(?=\S)([^*_`]+)[*_`]{1,3}/gu, "$1")
      .replace(/\\([!-/:-@[-`{-~])/gu, "$1"),
    200,
  );
}

/** The line without comments, and whether one goes on in the next line. */
function withoutComments(line: string, isInComment: boolean): [string, boolean] {
  let kept = "";
  let at = 0;
  let inside = isInComment;
  for (;;) {
    const mark = line.indexOf(inside ? "-->" : "<!--", at);
    if (!inside) kept += line.slice(at, mark < 0 ? undefined : mark);
    // The line's own end stays, so that paragraphs do not run together.
    if (mark < 0) return [inside && line.endsWith("\n") ? `${kept}\n` : kept, inside];
    at = mark + (inside ? 3 : 4);
    inside = !inside;
  }
}

/** `![alt](https://…)`, `![alt][ref]` and `<img src="https://…">` as `[image: alt]`. Bounded repeats: lines may be huge. */
function replaceRemoteImages(line: string): string {
  return line
    .replace(
      /!\[([^\][]{0,1000})\]\(\s{0,9}<?(?:https?:)?\/\/[^)\s]{0,4000}(?:\s[^)]{0,1000})?\)/giu,
      (_, alt: string) => imageText(alt),
    )
    .replace(/!\[([^\][]{0,1000})\]\[[^\]]{0,1000}\]/gu, (_, alt: string) => imageText(alt));
}

function imageText(alt: string): string {
  const words = oneLine(alt, 500);
  return words === "" ? "[image]" : `[image: ${words}]`;
}
