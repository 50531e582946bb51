import { ApiError } from "#api/errors.ts";
import type { ContainerRef, SourceItem, SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import { failedSkip, failedStatus, refusalOf } from "#sources/failures.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import { type NotionClient, orRefusal } from "./client.ts";
import type { NotionConfig } from "./config.ts";
import { commentsRef, type Facts, filesRef, headOf, isInScope, type Placed, toComment, toFile, toPage } from "./map.ts";
import { type PageText, readPageText } from "./page-text.ts";
import type { PageRecord } from "./records.ts";
import type { Tree } from "./tree.ts";

/** What a run works with. */
export interface Tools {
  ctx: SyncContext<NotionConfig>;
  run: Pick<SyncRequest<unknown>, "mode" | "scope" | "externalIds" | "runId">;
  client: NotionClient;
  tree: Tree;
  facts: Facts;
  /** A page that was last edited well before this is as it was when it was read: Notion tells edits by the minute. */
  settledBefore: number;
  /** Ids of pages, and of databases that were looked into. */
  told: Set<string>;
  /** Pages and databases that stand on pages and were not looked at yet. */
  found: PageText["children"];
  /** Without an answer that Notion is well in between. */
  failuresInARow: number;
}

type Event = SyncEvent<never>;

/** An edit is told by its minute, and may be stored a little later. */
const SETTLED_MS = 120_000;
/** After so many failures in a row Notion is asked whether it is well: pages from one template fail for one reason. */
const MOST_FAILURES = 5;

const isGone = ({ in_trash: isTrashed }: PageRecord) => isTrashed === true;

/** A page as it is now, with its files and comments. */
export async function* tellPage(tools: Tools, page: PageRecord): AsyncGenerator<Event, void> {
  const { ctx, tree, facts, told, run } = tools;
  ctx.signal.throwIfAborted();
  if (told.has(page.id)) return;
  told.add(page.id);
  const stored = await ctx.stored.version(page.id);
  try {
    const placed: Placed = { page, chain: await tree.chainOf(page.parent) };
    if (isGone(page) || !isInScope(run.scope, idsOf(placed))) {
      // A listing of everything removes by not naming.
      if (run.mode !== "full" && stored !== undefined) yield* deletePage(tools, page.id);
      return;
    }
    const isSettled = Date.parse(page.last_edited_time) + SETTLED_MS < tools.settledBefore;
    const isSame = isSettled && stored?.startsWith(headOf(placed, facts)) === true;
    if (isSame) {
      yield { t: "seen", externalIds: [page.id] };
      yield { t: "seen", externalIds: [], container: filesRef(page.id) };
    } else {
      yield* tellText(tools, placed, stored);
    }
    if (run.mode === "full" || !isSame) yield* tellComments(tools, placed, stored !== undefined);
    tools.failuresInARow = 0;
  } catch (error) {
    yield* notRead(tools, page.id, error);
  }
}

/** Whether a page is stored under its name and in its place. One that is new here, moved or renamed need not have been edited. */
export async function isAsStored({ ctx, tree, facts }: Tools, page: PageRecord): Promise<boolean> {
  const stored = await ctx.stored.version(page.id);
  if (stored === undefined) return false;
  return stored.startsWith(headOf({ page, chain: await tree.chainOf(page.parent) }, facts));
}

async function* tellText(tools: Tools, placed: Placed, stored: string | undefined): AsyncGenerator<Event, void> {
  const { client, facts, found } = tools;
  const { page } = placed;
  const { text, files, children } = await readPageText(client, page.id);
  found.push(...children);
  yield* tell(tools, [toPage(placed, text, facts)]);
  yield* tell(tools, fileItems(tools, placed, files));
  yield* endParts(filesRef(page.id), stored !== undefined);
}

async function* tellComments(tools: Tools, placed: Placed, isStored: boolean): AsyncGenerator<Event, void> {
  const items = await commentItems(tools, placed);
  yield* tell(tools, items);
  yield* endParts(commentsRef(placed.page.id), isStored);
}

/** What was among the parts of a page and was not named is gone. */
function* endParts(container: ContainerRef, isStored: boolean): Generator<Event, void> {
  if (isStored) yield { t: "listed", container };
}

/** The files and comments of a page that was read whole; those that are stored and not among them are gone. */
export async function* tellParts(
  tools: Tools,
  pageId: string,
  items: readonly SourceItem[],
): AsyncGenerator<Event, void> {
  const parts = items.filter(({ externalId }) => externalId !== pageId);
  yield* tell(tools, parts);
  const ids = new Set(parts.map(({ externalId }) => externalId));
  for (const container of [filesRef(pageId), commentsRef(pageId)])
    for await (const { externalId } of tools.ctx.stored.list(container))
      if (!ids.has(externalId)) yield { t: "delete", externalId };
}

export async function* deletePage({ ctx }: Tools, id: string): AsyncGenerator<Event, void> {
  for (const container of [filesRef(id), commentsRef(id)])
    for await (const { externalId } of ctx.stored.list(container)) yield { t: "delete", externalId };
  yield { t: "delete", externalId: id };
}

/** What is stored of the files and comments of a page that can't be read now stays. */
export function* keepParts(id: string): Generator<Event, void> {
  for (const container of [filesRef(id), commentsRef(id)]) yield { t: "seen", externalIds: [], container };
}

/** A page that is refused, or fails, alone. @throws what is about more than the page */
export async function* notRead(tools: Tools, id: string, error: unknown): AsyncGenerator<Event, void> {
  const code = refusalOf(error);
  if (code === undefined) await requireOfOne(tools, error);
  tools.told.add(id);
  yield* keepParts(id);
  if (code !== undefined) yield { t: "refused", what: { externalId: id }, code };
  else yield failure(id, error);
}

/** @throws the error when it is about more than one thing: Notion didn't answer, or isn't well */
export async function requireOfOne(tools: Tools, error: unknown): Promise<void> {
  if (failedStatus(error) === undefined) throw error;
  if (++tools.failuresInARow < MOST_FAILURES) return;
  await tools.client.me();
  tools.failuresInARow = 0;
}

/** @param error  one that `orFailure` gave, or that `requireOfOne` let pass */
export function failure(externalId: string, error: unknown): Event {
  return failedSkip(externalId, error instanceof ApiError ? error.message : "It can't be read now.");
}

/** Items that are stored as they are here are only named. */
async function* tell({ ctx }: Tools, items: readonly SourceItem[]): AsyncGenerator<Event, void> {
  const same: string[] = [];
  for (const item of items) {
    if ((await ctx.stored.version(item.externalId)) === item.version) same.push(item.externalId);
    else yield { t: "upsert", item };
  }
  if (same.length > 0) yield { t: "seen", externalIds: same };
}

function fileItems({ ctx, facts }: Tools, placed: Placed, files: PageText["files"]): SourceItem[] {
  if (!ctx.config.files) return [];
  return files.flatMap((file) => (isSecretFile(file.name) ? [] : (toFile(placed, file, facts) ?? [])));
}

/** None where the integration may not read comments. */
async function commentItems({ ctx, client, facts }: Tools, placed: Placed): Promise<SourceItem[]> {
  if (!ctx.config.comments) return [];
  const comments = await orRefusal(() => client.comments(placed.page.id));
  return typeof comments === "string" ? [] : comments.map((comment) => toComment(placed, comment, facts));
}

/** A page and its parts; undefined for one that is gone, or out of scope. */
export async function readWhole(
  tools: Tools,
  page: PageRecord,
): Promise<SourceItem[] | undefined | "source_forbidden"> {
  const { client, tree, facts, run } = tools;
  const placed: Placed = { page, chain: await tree.chainOf(page.parent) };
  if (isGone(page) || !isInScope(run.scope, idsOf(placed))) return undefined;
  const found = await orRefusal(() => readPageText(client, page.id));
  if (typeof found === "string") return found === "source_forbidden" ? found : undefined;
  return [
    toPage(placed, found.text, facts),
    ...fileItems(tools, placed, found.files),
    ...(await commentItems(tools, placed)),
  ];
}

function idsOf({ page, chain }: Placed): string[] {
  return [page.id, ...chain.map(({ id }) => id)];
}
