import { countLineFeeds } from "#text/sections.ts";
import { cleanText, oneLine } from "#extract/clean.ts";
import type { Format, FormatText } from "#extract/format.ts";
import { TextBuilder } from "#extract/text-builder.ts";
import { readFrontMatter } from "./front-matter.ts";

/**
 * Markdown is kept unchanged with two exceptions: comments are removed, and remote images become `[image: alt]`, because a program that displays the
 * text would load them. Front matter becomes properties. Source: S45.
 */
export const markdownFormat: Format = {
  async extract({ decode, fileName, maxTextLength }): Promise<FormatText> {
    const decoded = decode();
    const text = cleanText(decoded.text);
    const front = await readFrontMatter(text);
    const out = new TextBuilder(maxTextLength);
    copyBody(withoutRemarks(text.slice(front.end), fileName.toLowerCase().endsWith(".mdx")), out);
    const title = front.title ?? out.sections.find((section) => section.level === 1)?.name;
    const { properties, language } = front;
    const firstLine = 1 + countLineFeeds(text.slice(0, front.end));
    return out.result({ firstLine, properties, isCut: decoded.isCut, title, language });
  },
};

/**
 * Removes content for programs from the body: comments of Obsidian, embedded pictures, and in MDX the imports. Their lines are kept as empty lines.
 */
function withoutRemarks(body: string, isMdx: boolean): string {
  const hasComments = body.includes("%%");
  const hasPictures = body.includes("]: <data:") || body.includes("]: data:");
  if (!hasComments && !hasPictures && !isMdx) return body;
  let fence: string | undefined;
  // An unclosed comment isn't a comment.
  let openMarks = (body.match(/^[ \t]*%%(?!.*%%)|^(?!.*%%.*%%).*%%[ \t]*$/gmu) ?? []).length;
  let isInComment = false;
  let isInImport = false;
  const lines = body.split("\n").map((line) => {
    const mark = isInComment ? undefined : /^ {0,3}(`{3,}|~{3,})/u.exec(line)?.[1];
    if (fence !== undefined) {
      if (line.trim().startsWith(fence)) fence = undefined;
      return line;
    }
    fence = mark;
    if (fence !== undefined) return line;
    if (isInComment) {
      isInComment = !line.includes("%%");
      return "";
    }
    if (/^[ \t]*%%(?!.*%%)/u.test(line) && openMarks > 1) {
      openMarks -= 2;
      isInComment = true;
      return "";
    }
    isInImport = isMdx && (isInImport ? line.trim() !== "" : IMPORT.test(line));
    if (isInImport || (hasPictures && /^ {0,3}\[[^\]]{1,200}\]:[ \t]*<?data:/u.test(line))) return "";
    return hasComments ? line.replaceAll(/(^|\s)%%(?!%)(?:(?!%%).){0,5000}%%(?=[\s.,;:)]|$)/gu, "$1") : line;
  });
  return lines.join("\n");
}

const IMPORT =
  /^(?:import\s+(?:["']|[\w*{][^"']{0,1000}\sfrom\s+["']|\{[^}"']*$)|export\s+(?:const|default|let|function|\{|\*)[\s{(*])/u;

/** A line and its position. */
interface Line {
  text: string;
  offset: number;
}

/** Copies the body line by line. Unchanged lines are copied in long runs, because a piece per line costs more than reading it. */
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
    // The line above is the heading, unless it is a list, a table or a quotation.
    if (!/^\s*(?:[-*+|>]|\d+[.)])/u.test(previous.text)) {
      out.section(plainHeading(previous.text), first === EQUALS ? 1 : 2, previous.offset);
    }
  }
}

const HASH = 0x23;
const EQUALS = 0x3d;
const DASH = 0x2d;

/** Returns a heading without its markup: links become their text; emphasis, code marks, tags and ids are removed. */
function plainHeading(text: string): string {
  return oneLine(
    text
      .slice(0, 1_000)
      // Removes ids and classes after the text, and tags of templates.
      .replace(/\s*\{:?\s*[#.][^{}]*\}\s*$/u, "")
      .replace(/\{%[^%]*%\}|\{\{[^{}]*\}\}/gu, "")
      .replace(/!?\[([^\]]*)\]\([^)]*\)/gu, "$1")
      .replace(/<[^>]*>/gu, "")
      .replace(/[*_`]{1,3}(?=\S)([^*_`]+)[*_`]{1,3}/gu, "$1")
      .replace(/\\([!-/:-@[-`{-~])/gu, "$1"),
    200,
  );
}

/** Returns the line without comments, and whether a comment continues in the next line. */
function withoutComments(line: string, isInComment: boolean): [string, boolean] {
  let kept = "";
  let at = 0;
  let inside = isInComment;
  for (;;) {
    const mark = line.indexOf(inside ? "-->" : "<!--", at);
    if (!inside) kept += line.slice(at, mark < 0 ? undefined : mark);
    // The line break is kept, so that paragraphs don't run together.
    if (mark < 0) return [inside && line.endsWith("\n") ? `${kept}\n` : kept, inside];
    at = mark + (inside ? 3 : 4);
    inside = !inside;
  }
}

/**
 * Replaces `![alt](https://…)`, `![alt][ref]` and `<img src="https://…">` with `[image: alt]`. The patterns have bounded repeats, because lines may
 * be huge.
 */
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
