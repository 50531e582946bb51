import { ApiError } from "#api/errors.ts";
import { inChunks } from "#core/in-chunks.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { SessionSpec, WalkEnd, WalkEvent, WalkRequest } from "#sources/session.ts";
import { changesJudgement, handOverChanges } from "./changes.ts";
import type { GitConfig } from "./config.ts";
import { GitCursor, GitPlace } from "./cursor.ts";
import { isItemPath } from "./judge.ts";
import { list } from "./listing.ts";
import { type GitEnvironment, openMirror } from "./mirror.ts";
import { type CurrentPage, makePages } from "./pages.ts";
import { type GitTools, toSkip, viewOf } from "./tools.ts";
import { listChanges, listTree } from "./tree.ts";
import type { WantedFile } from "./view.ts";

type Run = WalkRequest<GitCursor, GitPlace>;
type Walk = AsyncGenerator<WalkEvent<GitPlace>, WalkEnd<GitCursor>>;

/** The number of files in a page, small enough for frequent checkpoints. */
const PAGE_SIZE = 200;

/** The positions of the previous runs. */
interface Before {
  feed?: GitCursor;
  left?: GitPlace;
}

/**
 * Sessions of a repository. `full`, and any run without a stored position: lists every file of the newest commit and
 * ends complete. `incremental`: reports the differences between the previous commit and the newest one, even if their
 * histories are unrelated. Its time doesn't depend on the size of the repository. It names only changes, so it doesn't
 * end complete.
 *
 * @throws ApiError `source_not_found` for a deleted branch, `source_unavailable` for a repository that became empty:
 * neither may ever be treated as "everything deleted"; errors of `openTransport` and `openLocal`
 */
export function gitSessions(
  environment: GitEnvironment & { prepare(): Promise<void> },
  pageSize: number = PAGE_SIZE,
): SessionSpec<GitConfig, GitCursor, GitPlace> {
  return {
    cursor: GitCursor,
    checkpoint: GitPlace,
    async open(ctx, { scope, ...before }) {
      await environment.prepare();
      const mirror = await openMirror(environment, ctx.connector.id, ctx.config, ctx.signal);
      let current: CurrentPage | undefined;
      const tools: GitTools = {
        ctx,
        scope,
        environment,
        mirror,
        place: { program: environment.program, gitDir: mirror.gitDir, signal: ctx.signal },
        pagesOf: (view) => makePages(view, pageSize, (page) => (current = page)),
      };
      return {
        walk: (run) => walk(tools, run, before),
        read: (externalIds) => (current ? readCurrent(current, externalIds) : readItems(tools, externalIds)),
        close: () => mirror.close(),
      };
    },
  };
}

async function* walk(tools: GitTools, { mode, resume }: Run, before: Before): Walk {
  const { ctx, mirror, place } = tools;
  if (resume?.kind === "listing" && (await mirror.has(resume.commit)))
    return yield* list(tools, await viewOf(tools, resume), resume);

  const known = yield* endChanges(tools, before);
  const newest = await mirror.refresh(ctx);
  if (!newest) return nothingThere(known);
  const { commit, ref } = newest;
  const view = await viewOf(tools, newest);
  const { placeKey } = view.repository;
  const base = known?.base ?? null;
  const from = base !== null && before.left?.kind !== "listing" && (await mirror.has(base)) ? base : null;
  const begun = { commit, ref: { short: ref.short, isTag: ref.isTag }, position: 0 };
  if (mode === "incremental" && from !== null && known?.placeKey === placeKey) {
    const changes = from === commit ? [] : await listChanges(place, from, commit);
    if (!changesJudgement(changes)) {
      if (from !== commit) {
        yield { t: "page", entries: [], checkpoint: { ...begun, kind: "changes", from }, isDue: true };
        yield* handOverChanges(tools, view, from, changes);
        await mirror.setBase(commit);
      }
      return { complete: false, cursor: { base: commit, placeKey }, permissions: "current" };
    }
  }
  // If no position is stored, the mirror still has the commit from which the items were built.
  return yield* list(tools, view, { ...begun, kind: "listing", from: from ?? (await mirror.base()) ?? null });
}

/**
 * Reports the rest of an unfinished run, because paths that only that run had found would be lost if the next one began
 * elsewhere. Returns the connector's position afterwards.
 */
async function* endChanges(
  tools: GitTools,
  { feed, left }: Before,
): AsyncGenerator<WalkEvent<GitPlace>, GitCursor | undefined> {
  const { mirror } = tools;
  if (left?.kind !== "changes" || left.from === null) return feed;
  const { from, commit } = left;
  if (!(await mirror.has(from)) || !(await mirror.has(commit))) return feed;
  const view = await viewOf(tools, left);
  yield* handOverChanges(tools, view, from);
  await mirror.setBase(commit);
  return { base: commit, placeKey: view.repository.placeKey };
}

/**
 * Ends a run of a repository without commits. If the repository had commits before, this isn't a deletion but a fault
 * of the repository.
 */
function nothingThere(known: GitCursor | undefined): WalkEnd<GitCursor> {
  if (known && known.base !== null) {
    throw new ApiError("source_unavailable", {
      message: "The repository is now empty. Nothing was removed.",
      field: "url",
    });
  }
  return { complete: true, cursor: { base: null, placeKey: null }, permissions: "current" };
}

/** The number of files whose sizes and dates are requested together. */
const FILES_TOGETHER = 100;

async function* toItems(view: CurrentPage["view"], files: readonly WantedFile[]): AsyncGenerator<Outcome, void> {
  for (const some of inChunks(files, FILES_TOGETHER))
    for (const item of await view.toItems(some)) yield { t: "upsert", item };
}

function readCurrent({ view, files }: CurrentPage, externalIds: readonly string[]): AsyncGenerator<Outcome, void> {
  return toItems(
    view,
    externalIds.flatMap((id) => files.get(id) ?? []),
  );
}

async function* readItems(tools: GitTools, externalIds: readonly string[]): AsyncGenerator<Outcome, void> {
  const { ctx, mirror, place } = tools;
  const newest = await mirror.refresh(ctx);
  if (!newest) throw new ApiError("source_unavailable", { message: "The repository is empty now.", field: "url" });
  const view = await viewOf(tools, newest);
  const open = new Set(externalIds);
  const files: WantedFile[] = [];
  for await (const entry of listTree(place, newest.commit)) {
    if (entry.path === undefined || !open.has(entry.path)) continue;
    const verdict = view.judge(entry);
    if (verdict.type === "silent") continue;
    open.delete(entry.path);
    if (verdict.type === "take") files.push(await view.toWanted(entry, verdict.path));
    else yield { ...toSkip(verdict.refusal), externalId: entry.path };
  }
  yield* toItems(view, files);
  for (const externalId of open) {
    // A commit never changes.
    yield isItemPath(externalId) ? { t: "delete", externalId } : { t: "seen", externalIds: [externalId] };
  }
}
