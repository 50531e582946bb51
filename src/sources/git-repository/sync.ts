import { ApiError } from "#api/errors.ts";
import type { SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import { isAttributesFile } from "./attributes.ts";
import { type Batch, type Gone, makeBatch, type Walking } from "./batch.ts";
import type { GitConfig } from "./config.ts";
import { type GitCursor, parseCursor } from "./cursor.ts";
import { listCommits } from "./history.ts";
import { COMMIT_PREFIX, isItemPath } from "./judge.ts";
import { toCommitItem } from "./map.ts";
import { type Mirror, openMirror } from "./mirror.ts";
import { foldersAbove } from "#sources/file-scope/paths.ts";
import { inMoveOrder } from "./moves.ts";
import { objectAt } from "./objects.ts";
import { listChanges, listTree, type TreeChange } from "./tree.ts";
import { type CommitView, IGNORE_FILE, openCommit, type WantedFile } from "./view.ts";

type Event = SyncEvent<GitCursor>;
type Context = SyncContext<GitConfig>;
type Run = SyncRequest<GitCursor>;

/**
 * One run. `full`, and whenever nothing is known: every file of the newest commit, unchanged ones as `seen`, ending
 * complete. `incremental`: what differs between the commit of last time and the newest one, whatever their histories,
 * in time that does not depend on the size of the repository; it names just that, so it does not end complete.
 *
 * @throws ApiError `source_not_found` for a branch that is gone, `source_unavailable` for a repository that became
 *   empty: neither may ever read as "everything deleted"; what `openTransport` and `openLocal` throw
 */
export async function* syncRepository(ctx: Context, run: Run, walking: Walking): AsyncGenerator<Event, void> {
  const mirror = await openMirror(walking.environment, ctx.connector.id, ctx.config, ctx.signal);
  try {
    const cursor = parseCursor(run.cursor);
    if (run.mode === "items") yield* syncItems(ctx, run, walking, mirror);
    else yield* syncAll(ctx, run, walking, { mirror, cursor });
  } finally {
    await mirror.close();
  }
}

interface At {
  mirror: Mirror;
  cursor: GitCursor;
}

async function* syncAll(ctx: Context, run: Run, walking: Walking, at: At): AsyncGenerator<Event, void> {
  const { mirror } = at;
  let { cursor } = at;
  const { walk } = cursor;
  if (walk && walk.runId === (run.runId ?? null) && walk.kind === "listing" && (await mirror.has(walk.commit))) {
    const view = await openCommit(ctx, run, walking.environment, { mirror, commit: walk.commit, ref: walk.ref });
    yield* list(ctx, walking, { mirror, view, walk });
    return;
  }
  if (walk?.kind === "changes" && cursor.base !== null && (await hasBoth(mirror, cursor.base, walk.commit))) {
    // Paths that only the interrupted walk knew of would be forgotten if the next one began elsewhere.
    const view = await openCommit(ctx, run, walking.environment, { mirror, commit: walk.commit, ref: walk.ref });
    yield* handOverChanges(ctx, walking, { mirror, view, from: cursor.base, walk });
    if (ctx.signal.aborted) return;
    await mirror.setBase(walk.commit);
    cursor = { base: walk.commit, placeKey: view.repository.placeKey, walk: null };
    yield { t: "checkpoint", cursor };
  }
  const newest = await mirror.refresh(ctx);
  if (!newest) {
    yield* nothingThere(cursor);
    return;
  }
  const { commit, ref } = newest;
  const view = await openCommit(ctx, run, walking.environment, { mirror, commit, ref });
  const from = cursor.base !== null && (await mirror.has(cursor.base)) ? cursor.base : null;
  const begun = { commit, ref: { short: ref.short, isTag: ref.isTag }, runId: run.runId ?? null, position: 0, done: 0 };
  const isKnown = from !== null && cursor.placeKey === view.repository.placeKey;
  const place = { program: walking.environment.program, gitDir: mirror.gitDir, signal: ctx.signal };
  const mayTell = run.mode === "incremental" && isKnown;
  const changes = mayTell && from !== commit ? await listChanges(place, from, commit) : [];
  if (mayTell && !changesJudgement(changes)) {
    if (from !== commit) {
      const changing = { ...begun, kind: "changes", from } as const;
      yield { t: "checkpoint", cursor: { ...cursor, walk: changing } };
      yield* handOverChanges(ctx, walking, { mirror, view, from, walk: changing, known: changes });
      if (ctx.signal.aborted) return;
      yield* finished(mirror, view, null);
    }
    yield { t: "end", listing: "partial", permissions: "current" };
    return;
  }
  // A full run begins with no cursor; the mirror remembers what the items were made from.
  const former = from ?? (await mirror.base()) ?? null;
  const listing = { ...begun, kind: "listing", from: former } as const;
  yield* list(ctx, walking, { mirror, view, walk: listing });
}

/** A repository without a commit. It had some: then it is no deletion, but something that went wrong there. */
async function* nothingThere(cursor: GitCursor): AsyncGenerator<Event, void> {
  if (cursor.base !== null) {
    throw new ApiError("source_unavailable", {
      message: "The repository is now empty. Nothing was removed.",
      field: "url",
    });
  }
  yield { t: "checkpoint", cursor: { base: null, placeKey: null, walk: null } };
  yield { t: "end", listing: "complete", permissions: "current" };
}

interface Listing {
  mirror: Mirror;
  view: CommitView;
  walk: NonNullable<GitCursor["walk"]>;
}

async function* list(ctx: Context, walking: Walking, listing: Listing): AsyncGenerator<Event, void> {
  const { view, mirror, walk } = listing;
  const place = { program: walking.environment.program, gitDir: mirror.gitDir, signal: ctx.signal };
  const moved = await movesSince(ctx, walking, listing);
  const batch = makeBatch(walking, walk, view);
  if (walk.position === 0) {
    yield { t: "checkpoint", cursor: batch.cursor() };
    for (const fault of view.faults) yield toSkip(fault);
    yield* batch.hand(moved);
    yield* batch.flush();
  }
  const handed = new Set(moved.map(({ path }) => path));
  const { wanted, total } = await survey(ctx, view, place, handed);
  await view.findCommits(wanted, walk.commit);
  let position = 0;
  for await (const entry of listTree(place, walk.commit)) {
    if (position++ < walk.position) continue;
    batch.pass();
    const verdict = view.judge(entry);
    if (verdict.type === "refused") yield toSkip(verdict.refusal);
    if (verdict.type === "take" && !handed.has(verdict.path)) {
      const file = await view.toWanted(entry, verdict.path);
      if ((await ctx.stored.version(file.path)) === file.version) batch.addSeen(file.path);
      else batch.addFile(file);
    }
    yield* batch.flushIfDue(total);
    if (ctx.signal.aborted) return;
  }
  yield* batch.flush();
  yield* listMessages(ctx, batch, { ...listing, before: position });
  if (ctx.signal.aborted) return;
  yield* batch.flush();
  yield* finished(mirror, view, batch.done());
  yield { t: "end", listing: "complete", permissions: "current" };
}

async function* listMessages(
  ctx: Context,
  batch: Batch,
  { view, walk, before }: Listing & { before: number },
): AsyncGenerator<Event, void> {
  if (!ctx.config.commits || ctx.config.history === 0) return;
  let position = before;
  for await (const commit of listCommits(view.history, walk.commit, ctx.config.history)) {
    if (position++ < walk.position) continue;
    batch.pass();
    const item = toCommitItem(commit, view.repository);
    if ((await ctx.stored.version(item.externalId)) === item.version) batch.addSeen(item.externalId);
    else yield batch.countUpsert({ t: "upsert", item });
    yield* batch.flushIfDue();
    if (ctx.signal.aborted) return;
  }
}

/** Files that moved since the items were made, in an order in which each finds its place free. */
async function movesSince(ctx: Context, walking: Walking, { view, mirror, walk }: Listing): Promise<WantedFile[]> {
  const { from, commit } = walk;
  if (from === null || from === commit || !(await mirror.has(from))) return [];
  const place = { program: walking.environment.program, gitDir: mirror.gitDir, signal: ctx.signal };
  const moves: WantedFile[] = [];
  for (const change of inMoveOrder(await listChanges(place, from, commit))) {
    if (change.type !== "present" || change.formerPath === undefined) continue;
    const verdict = view.judge(change.entry);
    if (verdict.type !== "take" || (await ctx.stored.version(change.formerPath)) === undefined) continue;
    moves.push({ ...(await view.toWanted(change.entry, verdict.path)), formerPath: change.formerPath });
  }
  return moves;
}

/** Which files will be handed over, so that one walk through the history finds all of their dates; and how many there are. */
async function survey(
  ctx: Context,
  view: CommitView,
  place: Parameters<typeof listTree>[0],
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

interface Changing {
  mirror: Mirror;
  view: CommitView;
  from: string;
  walk: NonNullable<GitCursor["walk"]>;
  /** The difference, when it is known already. */
  known?: readonly TreeChange[];
}

async function* handOverChanges(
  ctx: Context,
  walking: Walking,
  { mirror, view, from, walk, known }: Changing,
): AsyncGenerator<Event, void> {
  const place = { program: walking.environment.program, gitDir: mirror.gitDir, signal: ctx.signal };
  const changes = inMoveOrder(known ?? (await listChanges(place, from, walk.commit)));
  const batch = makeBatch(walking, walk, view);
  const living = new Set(changes.flatMap((change) => (change.type === "present" ? [change.entry.shown] : [])));
  const folders = makeGoneFolders(mirror, walk.commit, changes);
  await view.findCommits(living, `${from}..${walk.commit}`);
  for (const change of changes) {
    if (ctx.signal.aborted) return;
    yield* handOver(ctx, view, batch, change);
    const gone = change.type === "gone" ? change.path : change.formerPath;
    if (gone !== undefined && !living.has(gone)) batch.addGone(await folders.goneWith(gone));
    // The cursor stays: the walk is short, and is begun again from its beginning.
    yield* batch.flushIfFull();
  }
  yield* batch.flush();
  if (ctx.config.commits && ctx.config.history > 0) yield* newMessages(ctx, view, from, walk.commit);
}

/**
 * Finds out what went with a path: the topmost folder that the commit does not have any more, unless something moved out
 * of it, or the path alone.
 */
function makeGoneFolders(mirror: Mirror, commit: string, changes: readonly TreeChange[]) {
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

async function* handOver(
  ctx: Context,
  view: CommitView,
  batch: Batch,
  change: TreeChange,
): AsyncGenerator<Event, void> {
  if (change.type === "gone") return;
  const verdict = view.judge(change.entry);
  if (verdict.type === "take") {
    const file = await view.toWanted(change.entry, verdict.path);
    const { formerPath } = change;
    if ((await ctx.stored.version(file.path)) === file.version) batch.addSeen(file.path);
    else batch.addFile({ ...file, ...(formerPath !== undefined && { formerPath }) });
    return;
  }
  if (verdict.type === "refused") yield toSkip(verdict.refusal);
  // Was an item and no longer is: for example, a file that became a link.
  if (change.entry.path !== undefined && (await ctx.stored.version(change.entry.path)) !== undefined)
    batch.addGone({ path: change.entry.path });
}

async function* newMessages(ctx: Context, view: CommitView, from: string, to: string): AsyncGenerator<Event, void> {
  for await (const commit of listCommits(view.history, `${from}..${to}`, ctx.config.history)) {
    if (ctx.signal.aborted) return;
    const item = toCommitItem(commit, view.repository);
    if ((await ctx.stored.version(item.externalId)) !== item.version) yield { t: "upsert", item };
  }
  // Commits that a forced push took away.
  for await (const { sha } of listCommits(view.history, `${to}..${from}`, ctx.config.history)) {
    if (ctx.signal.aborted) return;
    yield { t: "delete", externalId: `${COMMIT_PREFIX}${sha}` };
  }
}

async function* syncItems(ctx: Context, run: Run, walking: Walking, mirror: Mirror): AsyncGenerator<Event, void> {
  const newest = await mirror.refresh(ctx);
  if (!newest) throw new ApiError("source_unavailable", { message: "The repository is empty now.", field: "url" });
  const { commit, ref } = newest;
  const view = await openCommit(ctx, run, walking.environment, { mirror, commit, ref });
  const wanted = new Set(run.externalIds ?? []);
  const files: WantedFile[] = [];
  const place = { program: walking.environment.program, gitDir: mirror.gitDir, signal: ctx.signal };
  for await (const entry of listTree(place, commit)) {
    if (entry.path === undefined || !wanted.has(entry.path)) continue;
    const verdict = view.judge(entry);
    if (verdict.type === "take") files.push(await view.toWanted(entry, verdict.path));
    if (verdict.type === "refused") yield { ...toSkip(verdict.refusal), externalId: entry.path };
  }
  for (const item of await view.toItems(files)) yield { t: "upsert", item };
  const found = new Set(files.map(({ path }) => path));
  for (const externalId of wanted) {
    if (!found.has(externalId) && isItemPath(externalId)) yield { t: "delete", externalId };
  }
  yield { t: "end", listing: "partial", permissions: "current" };
}

async function* finished(mirror: Mirror, view: CommitView, done: number | null): AsyncGenerator<Event, void> {
  await mirror.setBase(view.commit);
  yield { t: "checkpoint", cursor: { base: view.commit, placeKey: view.repository.placeKey, walk: null } };
  if (done !== null) yield { t: "progress", done, total: done };
}

/** True when a `.gitattributes` or the `.kbignore` changed: files that did not change are judged otherwise then. */
function changesJudgement(changes: readonly TreeChange[]): boolean {
  return changes.some((change) => {
    const paths = change.type === "gone" ? [change.path] : [change.entry.shown, change.formerPath];
    return paths.some((path) => path !== undefined && (isAttributesFile(path) || path === IGNORE_FILE));
  });
}

async function hasBoth(mirror: Mirror, a: string, b: string): Promise<boolean> {
  return (await mirror.has(a)) && (await mirror.has(b));
}

function toSkip(refusal: { id: string; reason: Extract<Event, { t: "skip" }>["reason"]; message: string }) {
  const { id, reason, message } = refusal;
  return { t: "skip", externalId: id, reason, message, retryable: false } as const;
}
