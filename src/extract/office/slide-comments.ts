import { singleSpaced } from "#extract/clean.ts";
import { commentLine } from "./comment-line.ts";
import { findType, listType, type OfficePackage, type Relationships } from "./package.ts";
import type { Attributes } from "./xml.ts";
import { withoutControlEscapes } from "./xstring.ts";

/** Reads the names of the people who comment, by their number in the file. */
export function readCommentAuthors(file: OfficePackage, relationships: Relationships): Map<string, string> {
  const authors = new Map<string, string>();
  for (const type of ["commentAuthors", "authors"]) {
    const part = findType(relationships, type);
    if (part === undefined) continue;
    file.walk(part.target, {
      open(name, { id, name: person }) {
        if ((name === "p:cmAuthor" || name === "p188:author") && id !== undefined && person !== undefined)
          authors.set(id, person);
      },
    });
  }
  return authors;
}

/** Reads the comments on a slide, one line each, with their replies. */
export function readSlideComments(
  file: OfficePackage,
  relationships: Relationships,
  authors: ReadonlyMap<string, string>,
): string[] {
  const lines: string[] = [];
  for (const part of listType(relationships, "comments")) readComments(file, part.target, authors, lines);
  return lines;
}

const COMMENTS = new Set(["p:cm", "p188:cm", "p188:reply"]);
const MAX_COMMENTS = 5_000;

function readComments(
  file: OfficePackage,
  partName: string,
  authors: ReadonlyMap<string, string>,
  lines: string[],
): void {
  const opened: { attributes: Attributes; line: number }[] = [];
  let isText = false;
  const texts: string[] = [];
  file.walk(partName, {
    open(name, attributes) {
      if (COMMENTS.has(name)) {
        // A comment contains its replies, so its line must be placed before theirs.
        opened.push({ attributes, line: lines.push("") - 1 });
        texts.push("");
      } else if (name === "p:text" || name === "a:t") isText = true;
    },
    text(data) {
      const last = texts.length - 1;
      if (isText && last >= 0) texts[last] += data;
    },
    close(name) {
      if (name === "p:text" || name === "a:t") isText = false;
      if (!COMMENTS.has(name)) return;
      const comment = opened.pop();
      const text = singleSpaced(withoutControlEscapes(texts.pop() ?? ""));
      if (comment === undefined || text === "") return;
      const { authorId = "", dt, created } = comment.attributes;
      lines[comment.line] = commentLine(authors.get(authorId), dt ?? created, text);
    },
    isDone: () => lines.length > MAX_COMMENTS,
  });
}
