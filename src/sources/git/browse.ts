import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ApiError } from "#api/errors.ts";
import type { BrowseNode, SourceContext } from "#sources/contract.ts";
import { type BrowseAt, type Place, toBrowsePage } from "#sources/file-scope/browse-page.ts";
import type { GitConfig } from "#sources/git-repository/config.ts";
import { isItemPath } from "#sources/git-repository/judge.ts";
import { folderOf, type GitEnvironment, type Mirror, openMirror } from "#sources/git-repository/mirror.ts";
import { listFolder, type TreeEntry } from "#sources/git-repository/tree.ts";
import { type CommitView, openCommit } from "#sources/git-repository/view.ts";

const BROWSED = "con_browse";
/** What a server that was killed left behind. */
const OLD_MS = 3_600_000;

/**
 * The folders and files directly below `parent` (an id as it came from here; `null` = the root) of the branch or tag that
 * the configuration names, as a run would take them. Nobody is connected yet, so a mirror without history and without
 * files is made for the answer, and deleted after it; `name` is its own.
 *
 * @throws ApiError `source_not_found` for a parent that is no folder there; what `openMirror` and `refresh` throw
 */
export async function browseRepository(
  environment: GitEnvironment,
  ctx: SourceContext<GitConfig>,
  at: BrowseAt,
  name: string,
): Promise<{ nodes: BrowseNode[]; nextCursor: string | null }> {
  const { parent } = at;
  if (parent !== null && !isItemPath(parent)) throw notThere(parent);
  await clearOld(environment, ctx.now());
  const id = `${BROWSED}${name}`;
  await rm(folderOf(environment, id), { recursive: true, force: true });
  const bare = { ...ctx, config: { ...ctx.config, history: 0, maxFileMb: SMALL_FILES_MB } };
  let mirror: Mirror | undefined;
  try {
    mirror = await openMirror(environment, id, bare.config, ctx.signal);
    const newest = await mirror.refresh(bare);
    if (!newest) return { nodes: [], nextCursor: null };
    const { commit, ref } = newest;
    const view = await openCommit(bare, { scope: { include: [], exclude: [] } }, environment, { mirror, commit, ref });
    const place = { program: environment.program, gitDir: mirror.gitDir, signal: ctx.signal };
    const entries = await listFolder(place, commit, parent ?? "");
    if (parent !== null && entries.length === 0) throw notThere(parent);
    return toBrowsePage(entries.flatMap((entry) => toPlace(view, entry)).sort(byId), at);
  } finally {
    await mirror?.close();
    await rm(folderOf(environment, id), { recursive: true, force: true });
  }
}

/** The smallest limit: lists of ignored paths are among what it brings. */
const SMALL_FILES_MB = 64 / 1024;

function toPlace(view: CommitView, entry: TreeEntry): Place[] {
  if (entry.path === undefined) return [];
  const isFolder = entry.mode === "040000";
  // A folder is entered when some file in it could be taken.
  const path = isFolder ? `${entry.path}/file` : entry.path;
  const verdict = view.judge({ ...entry, mode: isFolder ? "100644" : entry.mode, path, shown: path });
  return verdict.type === "take" ? [{ rel: entry.path, kind: isFolder ? "folder" : "file" }] : [];
}

function byId(a: Place, b: Place): number {
  return a.rel < b.rel ? -1 : 1;
}

async function clearOld({ folder }: GitEnvironment, now: number): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(BROWSED)) continue;
    const made = await stat(join(folder, name)).catch(() => undefined);
    if (made && now - made.mtimeMs > OLD_MS) await rm(join(folder, name), { recursive: true, force: true });
  }
}

function notThere(parent: string): ApiError {
  return new ApiError("source_not_found", {
    message: `${JSON.stringify(parent.slice(0, 200))} is not a folder of the repository. Use an ID that browsing returned.`,
    field: "parent",
  });
}
