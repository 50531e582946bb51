import { defined } from "#core/defined.ts";
import { foldersAbove } from "#sources/file-scope/paths.ts";
import { entryOf, type WalkEvent } from "#sources/session.ts";
import { isAttributesFile } from "./attributes.ts";
import type { GitPlace } from "./cursor.ts";
import { listCommits } from "./history.ts";
import { COMMIT_PREFIX } from "./judge.ts";
import { toCommitItem } from "./map.ts";
import { inMoveOrder } from "./moves.ts";
import { objectAt } from "./objects.ts";
import type { Gone, Pages } from "./pages.ts";
import { type GitTools, toSkip } from "./tools.ts";
import { listChanges, type TreeChange } from "./tree.ts";
import { type CommitView, IGNORE_FILE } from "./view.ts";

/**
 * Reports the differences between a commit and the view's commit. `known` = the differences, if they were already
 * computed.
 */
export async function* handOverChanges(
  tools: GitTools,
  view: CommitView,
  from: string,
  known?: readonly TreeChange[],
): AsyncGenerator<WalkEvent<GitPlace>, void> {
  const { ctx, place, pagesOf } = tools;
  const changes = inMoveOrder(known ?? (await listChanges(place, from, view.commit)));
  const pages = pagesOf(view);
  const living = new Set(changes.flatMap((change) => (change.type === "present" ? [change.entry.shown] : [])));
  const folders = makeGoneFolders(tools, view.commit, changes);
  await view.findCommits(living, `${from}..${view.commit}`);
  for (const change of changes) {
    ctx.signal.throwIfAborted();
    await handOver(tools, view, pages, change);
    const gone = change.type === "gone" ? change.path : change.formerPath;
    if (gone !== undefined && !living.has(gone)) pages.addGone(await folders.goneWith(gone));
    // No checkpoint is needed: the walk is short, and restarts from its beginning.
    if (pages.isFull()) yield* pages.take();
  }
  yield* pages.take();
  if (ctx.config.commits && ctx.config.history > 0) yield* newMessages(tools, view, from);
}

/**
 * Finds out what was removed together with a path: the topmost folder that the commit no longer has, or only the path
 * if something moved out of that folder.
 */
function makeGoneFolders({ mirror }: GitTools, commit: string, changes: readonly TreeChange[]) {
  const known = new Map<string, boolean>();
  const left = new Set<string>();
  for (const change of changes) {
    const former = change.type === "present" ? change.formerPath : undefined;
    for (const folder of former === undefined ? [] : foldersAbove(former)) left.add(folder);
  }
  const isGone = async (folder: string): Promise<boolean> => {
    const found = known.get(folder) ?? (await mirror.objects.info(objectAt(commit, folder)))?.type !== "tree";
    known.set(folder, found);
    return found;
  };
  return {
    async goneWith(path: string): Promise<Gone> {
      for (const folder of foldersAbove(path)) {
        const isOneLine = !folder.includes("\n");
        if (isOneLine && !left.has(folder) && (await isGone(folder))) return { folder };
      }
      return { path };
    },
  };
}

async function handOver({ ctx }: GitTools, view: CommitView, pages: Pages, change: TreeChange): Promise<void> {
  if (change.type === "gone") return;
  const { entry, formerPath } = change;
  const verdict = view.judge(entry);
  if (verdict.type === "take") {
    const file = await view.toWanted(entry, verdict.path);
    pages.addFile({ ...file, ...defined({ formerPath }) });
    return;
  }
  if (verdict.type === "refused") pages.add(toSkip(verdict.refusal));
  // The path was an item and no longer is: for example, a file was replaced by a link.
  if (entry.path !== undefined && (await ctx.stored.version(entry.path)) !== undefined)
    pages.addGone({ path: entry.path });
}

async function* newMessages(
  { ctx, pagesOf }: GitTools,
  view: CommitView,
  from: string,
): AsyncGenerator<WalkEvent<GitPlace>, void> {
  const { history } = ctx.config;
  const pages = pagesOf(view);
  for await (const commit of listCommits(view.history, `${from}..${view.commit}`, history)) {
    pages.add(entryOf(toCommitItem(commit, view.repository)));
    if (pages.isFull()) yield* pages.take();
  }
  yield* pages.take();
  // A forced push removed these commits.
  for await (const { sha } of listCommits(view.history, `${view.commit}..${from}`, history))
    yield { t: "delete", externalId: `${COMMIT_PREFIX}${sha}` };
}

/** Returns true if a `.gitattributes` or the `.kbignore` changed, since these also affect unchanged files. */
export function changesJudgement(changes: readonly TreeChange[]): boolean {
  return changes.some((change) => {
    const paths = change.type === "gone" ? [change.path] : [change.entry.shown, change.formerPath];
    return paths.some((path) => path !== undefined && (isAttributesFile(path) || path === IGNORE_FILE));
  });
}
