import { isApiError } from "#api/errors.ts";
import type { IgnoreChain } from "./judge.ts";
import { openInside } from "./open-inside.ts";
import { plainPath } from "#sources/file-scope/paths.ts";
import { compilePatterns } from "#sources/file-scope/patterns.ts";
import type { RootFolder } from "./root.ts";

/** The ignore lists of a folder, and the faults in them. */
export interface FolderIgnores {
  chain: IgnoreChain | undefined;
  /** An entry for each ignore file with a fault: its id, and the lines that were left out. */
  faults: { rel: string; message: string }[];
}

/** Larger ignore files aren't read. The largest public collections are under 30 kB. */
const MAX_IGNORE_FILE_BYTES = 64 * 1024;

/**
 * Adds a folder's own `.gitignore` and `.kbignore` to the lists of the folders above. In the same folder, `.kbignore`
 * takes precedence over `.gitignore`. An inner folder's lists take precedence over those of an outer folder, as in git.
 */
export async function readIgnoreFiles(
  root: RootFolder,
  folder: { rel: string; names: readonly string[] },
  outer: IgnoreChain | undefined,
  honoursGitignore: boolean,
): Promise<FolderIgnores> {
  const lines: string[] = [];
  const faults: FolderIgnores["faults"] = [];
  for (const name of honoursGitignore ? [".gitignore", ".kbignore"] : [".kbignore"]) {
    if (!folder.names.includes(name)) continue;
    const rel = folder.rel === "" ? name : `${folder.rel}/${name}`;
    const text = await readText(root, rel);
    if (text === undefined)
      faults.push({ rel, message: "This ignore file was not applied: it can't be read, or is over 64 kB." });
    else lines.push(...text.split(/\r?\n/));
  }
  if (lines.length === 0) return { chain: outer, faults };
  const { patterns, refused } = compilePatterns(lines);
  if (refused.length > 0) {
    const rel = folder.rel === "" ? ".gitignore" : `${folder.rel}/.gitignore`;
    faults.push({
      rel,
      message: `${refused.length} patterns of this folder's ignore files were not applied: they are too long or too complex.`,
    });
  }
  return { chain: { patterns, base: folder.rel, outer }, faults };
}

/**
 * Returns the lists that apply below an included folder. A list that ignores the folder was overruled, and must not
 * apply to its contents again.
 */
export function chainBelow(chain: IgnoreChain | undefined, folder: string): IgnoreChain | undefined {
  if (chain === undefined) return undefined;
  const below = plainPath(chain.base === "" ? folder : folder.slice(chain.base.length + 1));
  const outer = chainBelow(chain.outer, folder);
  const isOverruled = chain.patterns.test(below, true) === "ignored";
  if (!isOverruled && outer === chain.outer) return chain;
  return { ...chain, outer, patterns: isOverruled ? chain.patterns.keeping(below) : chain.patterns };
}

async function readText(root: RootFolder, rel: string): Promise<string | undefined> {
  try {
    const file = await openInside(root, rel);
    try {
      return Buffer.from(await file.read(MAX_IGNORE_FILE_BYTES)).toString("utf8");
    } finally {
      await file.close();
    }
  } catch (error) {
    // If rules exist but can't be read, files that they might exclude are left out.
    if (isApiError(error, "source_not_found") || isApiError(error, "payload_too_large")) return undefined;
    throw error;
  }
}
