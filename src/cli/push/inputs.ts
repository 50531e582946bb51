/** The inputs of `kb push`: files of lines, and documents from files, folders and patterns. */
import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { usageFailure } from "#cli/host/failure.ts";

export interface InputFile {
  path: string;
  size: number;
  modifiedMs: number;
}

/** A file whose text becomes searchable. */
export interface DocumentFile extends InputFile {
  /** The path with `/` between folders. It is the same from any working directory inside the named folder. */
  externalId: string;
}

export interface Inputs {
  lines: InputFile[];
  documents: DocumentFile[];
}

/** Whether the files contain lines, which the NDJSON extension indicates: all of them or none. */
export type InputKind = "lines" | "documents" | undefined;

/**
 * Finds the named inputs. A folder stands for every file below it as a document, except hidden files and links. A pattern (`*`, `**`, `?`, `[…]`)
 * stands for its matches. A file is a document unless its extension says that it contains lines.
 *
 * @throws CliFailure for a word that matches nothing
 */
export async function findInputs(words: readonly string[], kind: InputKind, cwd: string): Promise<Inputs> {
  const found: Inputs = { lines: [], documents: [] };
  const seen = new Set<string>();
  for (const word of words) {
    for (const { file, base } of await expand(word, cwd)) {
      if (seen.has(file.path)) continue;
      seen.add(file.path);
      const isLines = kind === "lines" || (kind === undefined && /\.(?:ndjson|jsonl)$/i.test(file.path));
      if (isLines) found.lines.push(file);
      else found.documents.push({ ...file, externalId: idOf(file.path, base, cwd) });
    }
  }
  return found;
}

interface Found {
  file: InputFile;
  /** The folder that was named. */
  base: string;
}

async function expand(word: string, cwd: string): Promise<Found[]> {
  const path = resolve(cwd, word);
  const info = await lstat(path).catch(() => undefined);
  if (info?.isDirectory()) return walk(path, path);
  if (info?.isFile()) return [{ file: toFile(path, info), base: dirname(path) }];
  if (info) throw usageFailure(`"${word}" is neither a file nor a folder.`);
  const base = /[*?[]/.test(word) ? resolve(cwd, fixedPart(word)) : undefined;
  const matches = makeMatcher(path);
  const matching = base === undefined ? [] : (await walk(base, base)).filter(({ file }) => matches(file.path));
  if (matching.length > 0) return matching;
  throw usageFailure(base === undefined ? `There is no file or folder "${word}".` : `No file matches "${word}".`);
}

/** Makes a matcher for a pattern: `**` matches any folders, `*` and `?` match within one folder, `[…]` matches one of these characters. */
function makeMatcher(pattern: string): (path: string) => boolean {
  const source = pattern
    .split(sep)
    .join("/")
    .replace(/\*\*\/|\*\*|\*|\?|\[!?[^\]/]+\]|[\\^$.|+(){}[\]]/g, (token) => {
      if (token === "**/") return "(?:[^/]+/)*";
      if (token === "**") return ".*";
      if (token === "*") return "[^/]*";
      if (token === "?") return "[^/]";
      if (token.length > 1) return token.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
      return `\\${token}`;
    });
  const regex = new RegExp(`^${source}$`, "u");
  return (path) => regex.test(path.split(sep).join("/"));
}

/** Returns the folders before the first one that contains a pattern. */
function fixedPart(pattern: string): string {
  const parts = pattern.split("/");
  return (
    parts
      .slice(
        0,
        parts.findIndex((part) => /[*?[]/.test(part)),
      )
      .join("/") || (isAbsolute(pattern) ? "/" : ".")
  );
}

/** Returns every file below a folder, sorted by name. */
async function walk(folder: string, base: string): Promise<Found[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const found: Found[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await walk(path, base)));
    else if (entry.isFile()) found.push({ file: toFile(path, await lstat(path)), base });
  }
  return found;
}

function toFile(path: string, { size, mtimeMs }: { size: number; mtimeMs: number }): InputFile {
  return { path, size, modifiedMs: mtimeMs };
}

/**
 * Returns the path relative to the working folder. For a file outside of it, returns the path relative to the named folder, with that folder's name.
 */
function idOf(path: string, base: string, cwd: string): string {
  const fromHere = relative(cwd, path);
  const isInside = !isAbsolute(fromHere) && fromHere !== ".." && !fromHere.startsWith(`..${sep}`);
  const id = isInside ? fromHere : join(basename(base), relative(base, path));
  return id.split(sep).join("/");
}
