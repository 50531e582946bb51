import { singleSpaced } from "#extract/clean.ts";
import { commentLine } from "./comment-line.ts";
import { blocksText } from "./blocks.ts";
import { readGraphic } from "./chart-text.ts";
import { listType, type OfficePackage, type Relationships } from "./package.ts";
import { withoutControlEscapes, xstring } from "./xstring.ts";

/** Reads the names of the people who comment, by id. */
export function readPersons(file: OfficePackage, relationships: Relationships): Map<string, string> {
  const persons = new Map<string, string>();
  for (const part of listType(relationships, "person")) {
    file.walk(part.target, {
      open(name, { id, displayName }) {
        if (name === "person" && id !== undefined && displayName !== undefined) persons.set(id, xstring(displayName));
      },
    });
  }
  return persons;
}

/** Reads the comments on visible cells, one line each: modern comments with their replies, otherwise the old notes. */
export function readSheetComments(
  file: OfficePackage,
  relationships: Relationships,
  persons: ReadonlyMap<string, string>,
  isShown: (address: string) => boolean,
): string[] {
  // Each threaded comment is repeated as a note for old programs.
  const threads = listType(relationships, "threadedComment");
  const parts = threads.length > 0 ? threads : listType(relationships, "comments");
  return parts.flatMap((part) => readComments(file, part.target, persons, isShown));
}

/** Reads the content of a sheet's drawings: text boxes, charts, diagrams. */
export function readDrawings(file: OfficePackage, relationships: Relationships): string[] {
  return listType(relationships, "drawing").flatMap((part) => readDrawing(file, part.target));
}

/** Reads the names of the tables that are defined on a sheet, with their ranges. */
export function readTables(file: OfficePackage, relationships: Relationships): string[] {
  const lines: string[] = [];
  for (const part of listType(relationships, "table")) {
    file.walk(part.target, {
      open(name, { displayName, ref }) {
        if (name === "table" && displayName !== undefined) lines.push(`Table ${xstring(displayName)}: ${ref ?? ""}`);
      },
      isDone: () => lines.length > MAX_LINES,
    });
  }
  return lines;
}

const MAX_LINES = 5_000;

function readComments(
  file: OfficePackage,
  partName: string,
  persons: ReadonlyMap<string, string>,
  isShown: (address: string) => boolean,
): string[] {
  const lines: string[] = [];
  const authors: string[] = [];
  let text = "";
  let head: Readonly<Record<string, string>> = {};
  file.walk(partName, {
    open(name, attributes) {
      if (name === "comment" || name === "threadedComment") head = attributes;
      if (name === "author" || name === "comment" || name === "threadedComment") text = "";
      return name === "rPh";
    },
    text: (data) => void (text.length < 100_000 && (text += data)),
    close(name) {
      if (name === "author") authors.push(xstring(text).trim());
      if (name !== "comment" && name !== "threadedComment") return;
      const { ref = "", authorId, personId = "", dT } = head;
      const author = name === "comment" ? authors[Number(authorId)] : persons.get(personId);
      const words = withoutName(singleSpaced(xstring(text)), author);
      if (words !== "" && isShown(ref)) lines.push(`Comment on ${ref}, ${commentLine(author, dT, words)}`);
    },
    isDone: () => lines.length > MAX_LINES,
  });
  return lines;
}

/** Removes the author's name at the start of a note, because it is already written. */
function withoutName(text: string, author: string | undefined): string {
  return author !== undefined && author !== "" && text.startsWith(`${author}:`)
    ? text.slice(author.length + 1).trim()
    : text;
}

function readDrawing(file: OfficePackage, partName: string): string[] {
  const lines: string[] = [];
  const relationships = file.relationshipsOf(partName);
  let text = "";
  let isText = false;
  file.walk(partName, {
    open(name, attributes) {
      if (name === "a:p") text = "";
      else if (name === "a:t") isText = true;
      const id = name === "c:chart" ? attributes["r:id"] : name === "dgm:relIds" ? attributes["r:dm"] : undefined;
      if (id === undefined) return;
      const blocks = readGraphic(file, relationships, name === "c:chart" ? "chart" : "diagram", id);
      for (const block of blocks) lines.push(blocksText([block]));
    },
    text: (data) => void (isText && text.length < 100_000 && (text += data)),
    close(name) {
      if (name === "a:t") isText = false;
      else if (name === "a:p") lines.push(withoutControlEscapes(text));
    },
    isDone: () => lines.length > MAX_LINES,
  });
  return lines;
}
