import { entryOf, type WalkEnd, type WalkEvent } from "#sources/session.ts";
import type { GitCursor, GitPlace } from "./cursor.ts";
import { listCommits } from "./history.ts";
import { toCommitItem } from "./map.ts";
import { inMoveOrder } from "./moves.ts";
import type { Pages } from "./pages.ts";
import { type GitTools, toSkip } from "./tools.ts";
import { listChanges, listTree } from "./tree.ts";
import type { CommitView, WantedFile } from "./view.ts";

type Walk<End> = AsyncGenerator<WalkEvent<GitPlace>, End>;

/** Lists every file of a commit, and the messages of commits that lead to it, starting at a position. */
export async function* list(tools: GitTools, view: CommitView, walk: GitPlace): Walk<WalkEnd<GitCursor>> {
  const pages = tools.pagesOf(view);
  const moved = await movesSince(tools, view, walk);
  if (walk.position === 0) {
    yield { t: "page", entries: [], checkpoint: walk, isDue: true };
    for (const fault of view.faults) pages.add(toSkip(fault));
    for (const file of moved) {
      pages.addFile(file);
      if (pages.isFull()) yield* pages.take();
    }
    yield* pages.take();
  }
  const position = yield* listFiles(tools, view, { walk, pages, handed: new Set(moved.map(({ path }) => path)) });
  yield* listMessages(tools, view, { walk, pages, position });
  await tools.mirror.setBase(view.commit);
  const cursor = { base: view.commit, placeKey: view.repository.placeKey };
  return { complete: true, cursor, permissions: "current" };
}

interface Listing {
  walk: GitPlace;
  pages: Pages;
}

async function* listFiles(
  tools: GitTools,
  view: CommitView,
  { walk, pages, handed }: Listing & { handed: ReadonlySet<string> },
): Walk<number> {
  const { wanted, total } = await survey(tools, view, handed);
  await view.findCommits(wanted, walk.commit);
  let position = 0;
  for await (const entry of listTree(tools.place, walk.commit)) {
    if (position++ < walk.position) continue;
    const verdict = view.judge(entry);
    if (verdict.type === "refused") pages.add(toSkip(verdict.refusal));
    if (verdict.type === "take" && !handed.has(verdict.path)) pages.addFile(await view.toWanted(entry, verdict.path));
    if (pages.isFull()) yield* pages.take({ checkpoint: { ...walk, position }, total });
  }
  yield* pages.take({ checkpoint: { ...walk, position: Math.max(position, walk.position) }, total });
  return position;
}

async function* listMessages(
  { ctx: { config } }: GitTools,
  view: CommitView,
  { walk, pages, position: before }: Listing & { position: number },
): Walk<void> {
  if (!config.commits || config.history === 0) return;
  let position = before;
  for await (const commit of listCommits(view.history, walk.commit, config.history)) {
    if (position++ < walk.position) continue;
    pages.add(entryOf(toCommitItem(commit, view.repository)));
    if (pages.isFull()) yield* pages.take({ checkpoint: { ...walk, position } });
  }
  yield* pages.take();
}

/**
 * Returns the files that moved since the items were built, in an order in which the new path of each file is already
 * free.
 */
async function movesSince({ ctx, mirror, place }: GitTools, view: CommitView, walk: GitPlace): Promise<WantedFile[]> {
  const { from, commit } = walk;
  if (from === null || from === commit || !(await mirror.has(from))) return [];
  const moves: WantedFile[] = [];
  for (const change of inMoveOrder(await listChanges(place, from, commit))) {
    if (change.type !== "present" || change.formerPath === undefined) continue;
    const verdict = view.judge(change.entry);
    if (verdict.type !== "take" || (await ctx.stored.version(change.formerPath)) === undefined) continue;
    moves.push({ ...(await view.toWanted(change.entry, verdict.path)), formerPath: change.formerPath });
  }
  return moves;
}

/**
 * Finds out which files will be reported and how many, so that one walk through the history can find the dates of all
 * of them.
 */
async function survey(
  { ctx, place }: GitTools,
  view: CommitView,
  handed: ReadonlySet<string>,
): Promise<{ wanted: Set<string>; total: number }> {
  const wanted = new Set<string>(handed);
  let total = 0;
  for await (const entry of listTree(place, view.commit)) {
    total++;
    const stored = entry.path === undefined ? undefined : await ctx.stored.version(entry.path);
    const isStored = stored?.startsWith(`${entry.oid}:`) && stored.endsWith(`:${view.repository.placeKey}`);
    if (entry.path !== undefined && !isStored) wanted.add(entry.path);
  }
  return { wanted, total };
}
