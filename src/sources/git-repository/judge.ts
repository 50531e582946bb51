import type { Skip } from "#sources/outcomes.ts";
import { foldersAbove, lastSegmentOf, plainPath, segmentsOf } from "#sources/file-scope/paths.ts";
import type { Patterns } from "#sources/file-scope/patterns.ts";
import type { CompiledScope } from "#sources/file-scope/scope.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import type { TreeEntry } from "./tree.ts";

/** Why something is left out, in the form of a skip event. `id` is the file that is left out, or a folder above it. */
export interface Refusal {
  id: string;
  reason: Skip["reason"];
  message: string;
}

/** The result for a path: include it, leave it out silently (it was not requested), or leave it out with a reason. */
export type Verdict = { type: "take"; path: string } | { type: "silent" } | { type: "refused"; refusal: Refusal };

/** The prefix for ids of commits. No path begins with a slash. */
export const COMMIT_PREFIX = "/commit/";

const MAX_PATH_CHARS = 4_000;
const MAX_DEPTH = 64;

/**
 * Makes a run's function that decides which files are included. `ignored` is the repository's own ignore list. A folder
 * that is left out is reported only once.
 */
export function makeJudge(
  scope: CompiledScope,
  takesSecrets: boolean,
  ignored: Pick<Patterns, "test"> = { test: () => undefined },
): (entry: TreeEntry) => Verdict {
  const folders = new Map<string, Fault | null>();
  const reported = new Set<string>();
  const faultOfPath = (path: string, isFolder: boolean): Fault | null => {
    if (scope.excludes(path, isFolder)) return EXCLUDED;
    return ignored.test(plainPath(path), isFolder) === "ignored" ? IGNORED : null;
  };
  const faultOfFolder = (folder: string): Fault | null => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const found = faultOfPath(folder, true);
    if (folders.size > 100_000) folders.clear();
    folders.set(folder, found);
    return found;
  };
  return (entry) => {
    const fault = faultOf(entry);
    if (fault) return { type: "refused", refusal: { id: entry.shown.slice(0, MAX_PATH_CHARS), ...fault } };
    const path = entry.shown;
    for (const folder of foldersAbove(path)) {
      const why = faultOfFolder(folder);
      if (why === null) continue;
      if (reported.has(folder)) return { type: "silent" };
      reported.add(folder);
      return { type: "refused", refusal: { id: folder, ...why } };
    }
    const why = faultOfPath(path, false);
    if (why !== null) return { type: "refused", refusal: { id: path, ...why } };
    if (!scope.includes(path)) return { type: "silent" };
    if (!takesSecrets && isSecretFile(plainPath(lastSegmentOf(path))))
      return { type: "refused", refusal: { id: path, ...SECRET } };
    return { type: "take", path };
  };
}

/** Returns true for a path in the form of an item's id. Any other path identifies no item. */
export function isItemPath(path: string): boolean {
  return faultOf({ mode: "100644", oid: "", path, shown: path }) === undefined;
}

type Fault = Omit<Refusal, "id">;

function faultOf({ path, mode }: TreeEntry): Fault | undefined {
  const segments = path === undefined ? ["."] : segmentsOf(path);
  if (path !== undefined && path.length > MAX_PATH_CHARS)
    return { reason: "excluded_by_policy", message: "The path is longer than 4,000 characters." };
  if (segments.length > MAX_DEPTH + 1) return { reason: "excluded_by_policy", message: "Deeper than 64 folders." };
  if (segments.some(isHostile))
    return { reason: "excluded_by_policy", message: "The path can't exist in a work tree." };
  if (mode === "160000")
    return { reason: "excluded_by_policy", message: "A submodule. Connect it as its own repository." };
  if (mode === "120000") return { reason: "excluded_by_policy", message: "Symbolic links are not followed." };
  return undefined;
}

function isHostile(segment: string): boolean {
  return (
    segment === "" || segment === "." || segment === ".." || segment.toLowerCase() === ".git" || segment.includes("\0")
  );
}

const EXCLUDED: Fault = { reason: "excluded_by_scope", message: "Excluded by the connector's scope." };
const IGNORED: Fault = { reason: "excluded_by_scope", message: "Excluded by the repository's .kbignore." };
const SECRET: Fault = { reason: "excluded_by_policy", message: "The name suggests keys or passwords." };
