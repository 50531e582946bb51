import { foldersAbove, plainPath } from "#sources/file-scope/paths.ts";
import { compilePatterns, type Patterns } from "#sources/file-scope/patterns.ts";

/** The values of `.gitattributes` for a file that matter to readers of text. */
export interface FileAttributes {
  isBinary: boolean;
  /** Its content is stored elsewhere (Git LFS): the repository has a pointer. */
  isLfs: boolean;
}

/** Reads a `.gitattributes` of a commit: the text of the file in this folder, `""` being the top; undefined = none. */
export type ReadAttributes = (folder: string) => Promise<string | undefined>;

/** Longer files are ignored: no one writes them by hand, and each line costs time for every path. */
export const MAX_ATTRIBUTE_BYTES = 256 * 1024;
const MAX_LINES = 1_000;

/**
 * Matches paths against the `.gitattributes` of their folders: inner files before outer ones, later lines before
 * earlier ones. Supports `binary`, `text`, `diff`, `filter`, and macros of the top file. Caches the files it read.
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
    // The top file defines the macros of all others.
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

/** True for a file whose change can affect the attributes of others. */
export function isAttributesFile(path: string): boolean {
  return path === ".gitattributes" || path.endsWith("/.gitattributes");
}

/** The size of the real file in a Git LFS pointer; undefined for any other text. */
export function lfsPointerOf(text: string): { size: number } | undefined {
  if (!text.startsWith("version https://git-lfs.github.com/spec/v1\n")) return undefined;
  const size = /^size (\d{1,15})$/m.exec(text)?.[1];
  return /^oid sha256:[0-9a-f]{64}$/m.test(text) && size !== undefined ? { size: Number(size) } : undefined;
}

/** The last line of the file first; within a line the last attribute wins, so the attributes are reversed too. */
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
    // A pattern that ends in a slash matches folders, but attributes apply to files.
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

/** The words of a line; a pattern with spaces is in quotes. */
function wordsOf(line: string): string[] {
  const quoted = /^\s*"((?:[^"\\]|\\.)*)"\s*(.*)$/.exec(line);
  const [pattern, rest] = quoted ? [(quoted[1] ?? "").replace(/\\(.)/g, "$1"), quoted[2] ?? ""] : [undefined, line];
  const words = rest
    .trim()
    .split(/[ \t\r]+/)
    .filter((word) => word !== "");
  return pattern === undefined ? words : [pattern, ...words];
}
