import { isApiError } from "#api/errors.ts";
import { chainBelow, readIgnoreFiles } from "./ignore-files.ts";
import { judgeFolder, judgeName, type IgnoreChain, type JudgeOptions } from "./judge.ts";
import { openFolderInside } from "./open-inside.ts";
import { errorCode } from "./root.ts";
import { idIn } from "#sources/file-scope/paths.ts";
import { MAX_DEPTH } from "./walk.ts";

/**
 * Counts the files that the walk will include, optionally only those that `isCounted` accepts, by their names alone:
 * one listing per folder and no file access. The count is an upper bound, since links, permissions and other devices
 * show only when a file is accessed. `undefined` when aborted or if the root can't be read: a missing total is never a
 * reason to fail.
 */
export async function countFiles(
  options: JudgeOptions,
  signal: AbortSignal,
  isCounted: (rel: string) => boolean = () => true,
): Promise<number | undefined> {
  const pending: Pending[] = [{ rel: "", chain: undefined, depth: 0 }];
  let total = 0;
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    if (signal.aborted) return undefined;
    const found = await countFolder(options, folder, isCounted);
    if (found === undefined && folder.depth === 0) return undefined;
    total += found?.files ?? 0;
    pending.push(...(found?.folders ?? []));
  }
  return total;
}

interface Pending {
  rel: string;
  chain: IgnoreChain | undefined;
  depth: number;
}

async function countFolder(
  options: JudgeOptions,
  { rel, chain: outer, depth }: Pending,
  isCounted: (rel: string) => boolean,
): Promise<{ files: number; folders: Pending[] } | undefined> {
  const folder = await openFolderInside(options.root, rel).catch(ignoreReadFailure);
  if (folder === undefined) return undefined;
  try {
    const entries = await folder.entries();
    const names = entries.map((entry) => entry.name);
    if (rel !== "" && judgeFolder(options, outer, rel, names) !== "take") return { files: 0, folders: [] };
    const { chain } = await readIgnoreFiles(options.root, { rel, names }, outer, options.config.gitignore);
    const siblings = new Set(names);
    let files = 0;
    const folders: Pending[] = [];
    for (const { name, isFolder, isFile } of entries) {
      const id = idIn(rel, name);
      if ((!isFolder && !isFile) || judgeName(options, { name, rel: id, isFolder, chain, siblings }) !== "take")
        continue;
      if (isFile) files += isCounted(id) ? 1 : 0;
      else if (depth < MAX_DEPTH) folders.push({ rel: id, chain: chainBelow(chain, id), depth: depth + 1 });
    }
    return { files, folders };
  } catch (error) {
    return ignoreReadFailure(error);
  } finally {
    await folder.close();
  }
}

/**
 * Ignores a folder that can't be read, which counts as empty here. The walk reads the same folder and reports the
 * problem.
 */
function ignoreReadFailure(error: unknown): undefined {
  if (isApiError(error) || errorCode(error) !== undefined) return undefined;
  throw error;
}
