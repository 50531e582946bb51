import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Scope } from "#core/scope.ts";
import type { SourceContext } from "#sources/context.ts";
import type { GitConfig } from "#sources/git-repository/config.ts";
import { folderOf, type GitEnvironment, type Mirror, openMirror } from "#sources/git-repository/mirror.ts";
import { type CommitView, openCommit } from "#sources/git-repository/view.ts";

/** The newest commit of a branch or tag, without history and without files. */
export interface NewestCommit {
  view: CommitView;
  commit: string;
  place: { program: GitEnvironment["program"]; gitDir: string; signal: AbortSignal };
}

const BROWSED = "con_browse";
/** The age from which a temporary mirror is a leftover of a server that was killed. */
const OLD_MS = 3_600_000;
/** The smallest file limit. The fetch still includes the ignore lists. */
const SMALL_FILES_MB = 64 / 1024;

/**
 * Reads the newest commit in the same way as a run with this scope, in a temporary mirror that is later deleted; `name`
 * is the mirror's name. Returns undefined for an empty repository.
 *
 * @throws the errors of `openMirror`, `refresh` and `look`
 */
export async function withNewest<T>(
  environment: GitEnvironment,
  ctx: SourceContext<GitConfig>,
  { name, scope }: { name: string; scope: Scope },
  use: (newest: NewestCommit) => Promise<T>,
): Promise<T | undefined> {
  await clearOld(environment, ctx.now());
  const id = `${BROWSED}${name}`;
  await rm(folderOf(environment, id), { recursive: true, force: true });
  const bare = { ...ctx, config: { ...ctx.config, history: 0, maxFileMb: SMALL_FILES_MB } };
  let mirror: Mirror | undefined;
  try {
    mirror = await openMirror(environment, id, bare.config, ctx.signal);
    const newest = await mirror.refresh(bare);
    if (!newest) return undefined;
    const { commit, ref } = newest;
    const view = await openCommit(bare, { scope }, environment, { mirror, commit, ref });
    const place = { program: environment.program, gitDir: mirror.gitDir, signal: ctx.signal };
    return await use({ view, commit, place });
  } finally {
    await mirror?.close();
    await rm(folderOf(environment, id), { recursive: true, force: true });
  }
}

async function clearOld({ folder }: GitEnvironment, now: number): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(BROWSED)) continue;
    const made = await stat(join(folder, name)).catch(() => undefined);
    if (made && now - made.mtimeMs > OLD_MS) await rm(join(folder, name), { recursive: true, force: true });
  }
}
