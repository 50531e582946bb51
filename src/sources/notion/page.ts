import { ApiError } from "#api/errors.ts";
import type { ContainerRef, SourceItem, SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import { type Failures, failedSkip } from "#sources/failures.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import { namelessSkip, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { tellItems } from "#sources/seen.ts";
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
  failures: Failures;
}

type Event = SyncEvent<never>;

/** An edit is told by its minute, and may be stored a little later. */
const SETTLED_MS = 120_000;
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
    const isSame = isSettled && stored?.startsWith(headOf(placed, facts)) === true && !isInPart(stored);
    if (isSame) {
      yield { t: "seen", externalIds: [page.id] };
      yield { t: "seen", externalIds: [], container: filesRef(page.id) };
    } else {
      yield* tellText(tools, placed, stored);
    }
    if (run.mode === "full" || !isSame) yield* tellComments(tools, placed, stored !== undefined);
    tools.failures.well();
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
  const { text, files, children, isWhole } = await readPageText(client, page.id);
  found.push(...children);
  const item = toPage(placed, text, facts);
  yield* await tellItems(tools.ctx.stored, [isWhole ? item : { ...item, version: `${item.version}${IN_PART}` }]);
  yield* await tellItems(tools.ctx.stored, fileItems(tools, placed, files));
  if (isWhole) yield* endParts(filesRef(page.id), stored !== undefined);
  else yield* keepOdd(filesRef(page.id), `blocks of ${page.id}`);
}

/** Ends the version of a page of which not every block was understood: it is read again each time. */
const IN_PART = "~";
const isInPart = (version: string) => version.endsWith(IN_PART);

/** Not all of these was understood: what is stored of it stays. */
function* keepOdd(container: ContainerRef, what: string): Generator<Event, void> {
  yield { t: "seen", externalIds: [], container };
  yield failedSkip(what, NOT_UNDERSTOOD);
}

async function* tellComments(tools: Tools, placed: Placed, isStored: boolean): AsyncGenerator<Event, void> {
  const { items, isWhole } = await commentItems(tools, placed);
  yield* await tellItems(tools.ctx.stored, items);
  if (isWhole) yield* endParts(commentsRef(placed.page.id), isStored);
  else yield* keepOdd(commentsRef(placed.page.id), `comments of ${placed.page.id}`);
}

/** What was among the parts of a page and was not named is gone. */
function* endParts(container: ContainerRef, isStored: boolean): Generator<Event, void> {
  if (isStored) yield { t: "listed", container };
}

/** The files and comments of a page that was read whole; those that are stored and not among them are gone. */
export async function* tellParts(tools: Tools, pageId: string, { items, isWhole }: Parts): AsyncGenerator<Event, void> {
  const parts = items.filter(({ externalId }) => externalId !== pageId);
  yield* await tellItems(tools.ctx.stored, parts);
  if (!isWhole) return;
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
  const outcome = await tools.failures.outcomeOf(id, error, messageOf(error));
  tools.told.add(id);
  yield* keepParts(id);
  yield outcome;
}

/** Pages and databases that were listed and aren't understood; what is stored of them was asked for by itself. */
export async function* tellOdd({ client, ctx, told }: Tools): AsyncGenerator<Event, void> {
  const { ids, nameless } = client.odd.take();
  for (const id of ids)
    if (!told.has(id) && (await ctx.stored.version(id)) === undefined) yield failedSkip(id, NOT_UNDERSTOOD);
  if (nameless > 0) yield namelessSkip("pages of the workspace", nameless, "pages or databases");
}

/** @param error  one that `orFailure` gave, or that the failures let pass */
export function failure(externalId: string, error: unknown): Event {
  return failedSkip(externalId, messageOf(error));
}

function messageOf(error: unknown): string {
  return error instanceof ApiError ? error.message : "It can't be read now.";
}

function fileItems({ ctx, facts }: Tools, placed: Placed, files: PageText["files"]): SourceItem[] {
  if (!ctx.config.files) return [];
  return files.flatMap((file) => (isSecretFile(file.name) ? [] : (toFile(placed, file, facts) ?? [])));
}

/** Items, and whether there are no others, which aren't understood. */
export interface Parts {
  items: SourceItem[];
  isWhole: boolean;
}

/** None where the integration may not read comments. */
async function commentItems({ ctx, client, facts }: Tools, placed: Placed): Promise<Parts> {
  const nothing = { items: [], isWhole: true };
  if (!ctx.config.comments) return nothing;
  const found = await orRefusal(() => client.comments(placed.page.id));
  if (typeof found === "string") return nothing;
  const { comments, isWhole } = found;
  return { items: comments.map((comment) => toComment(placed, comment, facts)), isWhole };
}

/** A page and its parts; undefined for one that is gone, or out of scope. */
export async function readWhole(tools: Tools, page: PageRecord): Promise<Parts | undefined | "source_forbidden"> {
  const { client, tree, facts, run } = tools;
  const placed: Placed = { page, chain: await tree.chainOf(page.parent) };
  if (isGone(page) || !isInScope(run.scope, idsOf(placed))) return undefined;
  const found = await orRefusal(() => readPageText(client, page.id));
  if (typeof found === "string") return found === "source_forbidden" ? found : undefined;
  const comments = await commentItems(tools, placed);
  const items = [toPage(placed, found.text, facts), ...fileItems(tools, placed, found.files), ...comments.items];
  return { items, isWhole: found.isWhole && comments.isWhole };
}

function idsOf({ page, chain }: Placed): string[] {
  return [page.id, ...chain.map(({ id }) => id)];
}
