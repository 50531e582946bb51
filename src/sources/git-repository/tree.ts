import { defined } from "#core/defined.ts";
import { hasByteSegment, idIn, pathOf, segmentsOf } from "#sources/file-scope/paths.ts";
import { readTokens, type GitCall, type GitProgram, GitFailed } from "./program.ts";

/** An entry in the tree of a commit. */
export interface TreeEntry {
  /** `100644` and `100755` are files, `120000` is a link, and `160000` is another repository. */
  mode: string;
  oid: string;
  /**
   * The id. Undefined for a path that can't have an id, since no work tree can contain it; `shown` is then the path's
   * text.
   */
  path: string | undefined;
  shown: string;
}

/** The change of one path between two commits. */
export type TreeChange =
  | { type: "present"; entry: TreeEntry; formerPath?: string }
  | { type: "gone"; path: string | undefined };

type Place = { program: GitProgram; gitDir: string; signal: AbortSignal };

/** Lists every file of a commit in the byte order of the paths, which is the same every time. */
export async function* listTree(place: Place, commit: string): AsyncGenerator<TreeEntry, void> {
  for await (const token of readTokens(place.program, ["ls-tree", "-r", "-z", "--full-tree", commit], call(place))) {
    yield toEntry(token);
  }
}

function toEntry(token: Buffer): TreeEntry {
  const tab = token.indexOf(0x09);
  const [mode = "", , oid = ""] = token.toString("latin1", 0, tab).split(" ");
  return { mode, oid, ...toPath(token.subarray(tab + 1)) };
}

/** Lists the direct contents of a folder in a commit (`""` = its root): files, and folders with the mode `040000`. */
export async function listFolder(place: Place, commit: string, folder: string): Promise<TreeEntry[]> {
  if (hasByteSegment(folder)) {
    const found = await entryAt(place, commit, folder);
    const entries = found?.mode === FOLDER_MODE ? await listArgs(place, [found.oid]) : [];
    const within = (path: string) => idIn(folder, path);
    return entries.map(({ path, shown, ...entry }) => ({
      ...entry,
      path: path === undefined ? undefined : within(path),
      shown: within(shown),
    }));
  }
  return listArgs(place, [commit, ...(folder === "" ? [] : ["--", `${folder}/`])]);
}

/**
 * Returns the entry at a path of a commit, even if a name in the path isn't valid UTF-8. Git is called with object ids,
 * because Node can pass only text as arguments.
 */
export async function entryAt(place: Place, commit: string, path: string): Promise<TreeEntry | undefined> {
  let found: TreeEntry | undefined;
  for (const segment of segmentsOf(path)) {
    if (found !== undefined && found.mode !== FOLDER_MODE) return undefined;
    const entries = await listArgs(place, [found?.oid ?? commit]);
    found = entries.find((entry) => entry.path === segment);
    if (found === undefined) return undefined;
  }
  return found;
}

const FOLDER_MODE = "040000";

async function listArgs(place: Place, args: readonly string[]): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const tokens = readTokens(place.program, ["ls-tree", "-z", "--full-tree", ...args], call(place));
  for await (const token of tokens) entries.push(toEntry(token));
  return entries;
}

/**
 * Lists the differences between the files of two commits, even if their histories are unrelated. Renames are detected
 * by content. Git can detect renames of changed files only if the mirror has both files; for files that the mirror left
 * out, it detects only exact renames.
 */
export async function listChanges(place: Place, from: string, to: string): Promise<TreeChange[]> {
  try {
    // -B: a path whose content moved elsewhere, and that got other content, counts as renamed.
    return await diff(place, from, to, ["-B", "-M50%", "-l1000"]);
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    return diff(place, from, to, ["-M100%"]);
  }
}

const DIFF_MS = 600_000;

async function diff(place: Place, from: string, to: string, options: string[]): Promise<TreeChange[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-ext-diff", "--no-textconv", ...options, from, to];
  const changes: TreeChange[] = [];
  const tokens = readTokens(place.program, args, call(place));
  for (let token = await tokens.next(); !token.done; token = await tokens.next()) {
    const [, mode = "", , oid = "", status = ""] = token.value.toString("latin1").slice(1).split(" ");
    const first = toPath(await require(tokens));
    if (status.startsWith("R")) {
      const entry = { mode, oid, ...toPath(await require(tokens)) };
      changes.push({ type: "present", entry, ...defined({ formerPath: first.path }) });
    } else if (status === "D") {
      changes.push({ type: "gone", path: first.path });
    } else {
      changes.push({ type: "present", entry: { mode, oid, ...first } });
    }
  }
  return changes;
}

async function require(tokens: AsyncGenerator<Buffer, void>): Promise<Buffer> {
  const { done, value } = await tokens.next();
  if (done) throw new Error("git ended in the middle of an entry.");
  return value;
}

function call({ gitDir, signal }: Place): Omit<GitCall, "maxBytes"> {
  return { gitDir, signal, timeoutMs: DIFF_MS };
}

/** The most bytes of a path. No text of 4,000 characters has more, which is the longest path of an item. */
const MAX_PATH_BYTES = 12_000;

function toPath(bytes: Buffer): Pick<TreeEntry, "path" | "shown"> {
  // The rest of a path that no item can have isn't read, however long it is. No path begins with a slash.
  if (bytes.length > MAX_PATH_BYTES)
    return { path: undefined, shown: `/${bytes.toString("latin1", 0, MAX_PATH_BYTES)}` };
  const path = pathOf(bytes);
  // Only a manipulated tree contains names that are `.`, and these could form the id of another file.
  const hasDot = /(?:^|\/)\.(?:\/|$)/.test(bytes.toString("latin1"));
  return hasDot ? { path: undefined, shown: hasByteSegment(path) ? `/${path}` : path } : { path, shown: path };
}
