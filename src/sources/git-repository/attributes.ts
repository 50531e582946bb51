import { foldersAbove, plainPath } from "#sources/file-scope/paths.ts";
import { compilePatterns, type Patterns } from "#sources/file-scope/patterns.ts";

/** The `.gitattributes` values of a file that matter for its text. */
export interface FileAttributes {
  isBinary: boolean;
  /** True = the content is stored elsewhere (Git LFS), and the repository contains only a pointer. */
  isLfs: boolean;
}

/**
 * Reads the `.gitattributes` of a commit in a folder, `""` being the top folder. Returns its text; undefined if there
 * is none.
 */
export type ReadAttributes = (folder: string) => Promise<string | undefined>;

/** Longer files are ignored. No one writes such files by hand, and each line costs time for every path. */
export const MAX_ATTRIBUTE_BYTES = 256 * 1024;
const MAX_LINES = 1_000;

/**
 * Matches paths against the `.gitattributes` of their folders. Inner files take precedence over outer ones, and later
 * lines over earlier ones. Supports `binary`, `text`, `diff`, `filter`, and macros of the top file. Caches the files it
 * read.
 */
export function makeAttributes(read: ReadAttributes): (path: string) => Promise<FileAttributes> {
  const lists = new Map<string, Promise<Line[]>>();
  const macros = new Map<string, readonly string[]>([["binary", ["-diff", "-merge", "-text"]]]);
  const linesOf = (folder: string): Promise<Line[]> => {
    const known = lists.get(folder) ?? read(folder).then((text) => parseLines(text ?? "", macros, folder === ""));
    lists.set(folder, known);
    return known;
  };
  return async (path) => {
    // The top file defines the macros for all other files.
    await linesOf("");
    const values = new Map<string, string | boolean>();
    for (const folder of [...foldersAbove(path)].toReversed().concat("")) {
      const below = plainPath(folder === "" ? path : path.slice(folder.length + 1));
      for (const { patterns, attributes } of await linesOf(folder)) {
        if (patterns.test(below, false) !== "ignored") continue;
        // The first value found is from the nearest file.
        for (const [name, value] of attributes) if (!values.has(name)) values.set(name, value);
      }
    }
    const isBinary = values.get("binary") === true || (values.get("text") === false && values.get("diff") === false);
    return { isBinary, isLfs: values.get("filter") === "lfs" };
  };
}

/** Returns true for a file whose change can affect the attributes of other files. */
export function isAttributesFile(path: string): boolean {
  return path === ".gitattributes" || path.endsWith("/.gitattributes");
}

/** Returns the size of the real file that a Git LFS pointer refers to; undefined for any other text. */
export function lfsPointerOf(text: string): { size: number } | undefined {
  if (!text.startsWith("version https://git-lfs.github.com/spec/v1\n")) return undefined;
  const size = /^size (\d{1,15})$/m.exec(text)?.[1];
  return /^oid sha256:[0-9a-f]{64}$/m.test(text) && size !== undefined ? { size: Number(size) } : undefined;
}

/**
 * A line of an attributes file. Lines are in reverse order, so the last line is first. Within a line the last attribute
 * wins, so the attributes are reversed too.
 */
interface Line {
  patterns: Patterns;
  attributes: readonly (readonly [string, string | boolean])[];
}

const KNOWN = new Set(["binary", "text", "diff", "filter"]);

function parseLines(text: string, macros: Map<string, readonly string[]>, isTop: boolean): Line[] {
  const lines: Line[] = [];
  for (const raw of text.slice(0, MAX_ATTRIBUTE_BYTES).split("\n").slice(0, MAX_LINES)) {
    const [pattern = "", ...words] = wordsOf(raw);
    if (pattern === "" || pattern.startsWith("#") || pattern.startsWith("!")) continue;
    const macro = /^\[attr\](.+)$/.exec(pattern)?.[1];
    if (macro !== undefined) {
      if (isTop) macros.set(macro, words);
      continue;
    }
    const attributes = words.flatMap((word) => expand(word, macros)).toReversed();
    // A pattern that ends in a slash matches only folders, but attributes apply to files.
    if (attributes.length === 0 || pattern.endsWith("/")) continue;
    lines.push({ patterns: compilePatterns([pattern]).patterns, attributes });
  }
  return lines.toReversed();
}

function expand(word: string, macros: ReadonlyMap<string, readonly string[]>): [string, string | boolean][] {
  const [, sign = "", name = "", value] = /^([-!]?)([^=]+)(?:=(.*))?$/.exec(word) ?? [];
  const own: [string, string | boolean][] = KNOWN.has(name) && sign !== "!" ? [[name, value ?? sign !== "-"]] : [];
  if (sign !== "" || value !== undefined) return own;
  const inner = (macros.get(name) ?? []).filter((each) => each !== word && !macros.has(each));
  return [...own, ...inner.flatMap((each) => expand(each, new Map()))];
}

/** Splits a line into words. A pattern with spaces is in quotes. */
function wordsOf(line: string): string[] {
  const quoted = /^\s*"((?:[^"\\]|\\.)*)"\s*(.*)$/.exec(line);
  const [pattern, rest] = quoted ? [(quoted[1] ?? "").replace(/\\(.)/g, "$1"), quoted[2] ?? ""] : [undefined, line];
  const words = rest
    .trim()
    .split(/[ \t\r]+/)
    .filter((word) => word !== "");
  return pattern === undefined ? words : [pattern, ...words];
}
