import { isNamedIn } from "#sources/in-scope.ts";
import { ApiError } from "#api/errors.ts";
import type { SyncContext } from "#sources/context.ts";
import type { ContainerRef, SourceItem } from "#sources/item.ts";
import { type Failures, failedSkip, refusalOf } from "#sources/failures.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import { namelessSkip, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { entryOf, type OpenRequest, type Page, type WalkEvent } from "#sources/session.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { type NotionClient, orRefusal } from "./client.ts";
import type { NotionConfig } from "./config.ts";
import { commentsRef, type Facts, filesRef, headOf, type Placed, toComment, toFile, toPage } from "./map.ts";
import { type PageText, readPageText } from "./page-text.ts";
import type { PageRecord } from "./records.ts";
import type { Tree } from "./tree.ts";

/** The dependencies of a run. */
export interface Tools {
  ctx: SyncContext<NotionConfig>;
  scope: OpenRequest["scope"];
  client: NotionClient;
  tree: Tree;
  facts: Facts;
  /**
   * A page that was last edited well before this time is unchanged since it was read. The margin is needed because
   * Notion reports edits by the minute.
   */
  settledBefore: number;
  /** True = the run names everything, and pages that it doesn't name no longer exist. */
  isListing: boolean;
  /** Pages of the listing, which are reported when it is their turn. */
  listed: Map<string, PageRecord>;
  /** Ids of the pages that were reported, and of the databases that were read. */
  reported: Set<string>;
  /** Pages and databases that were found on pages and have not been read yet. */
  found: PageText["children"];
  failures: Failures;
}

type Event = WalkEvent<never>;

/** The margin for edits: Notion reports an edit by its minute, and may store it a little later. */
const SETTLED_MS = 120_000;
const isGone = ({ in_trash: isTrashed }: PageRecord) => isTrashed === true;

/** Reports the present state of a page, with its files and comments. */
export async function* reportPage(tools: Tools, page: PageRecord): AsyncGenerator<Event, void> {
  const { ctx, tree, facts, reported, scope, isListing } = tools;
  ctx.signal.throwIfAborted();
  if (reported.has(page.id)) return;
  reported.add(page.id);
  const stored = await ctx.stored.version(page.id);
  try {
    const placed: Placed = { page, chain: await tree.chainOf(page.parent) };
    if (isGone(page) || !isNamedIn(scope, ...idsOf(placed))) {
      if (!isListing && stored !== undefined) yield* deletePage(page.id);
      return;
    }
    const isSettled = Date.parse(page.last_edited_time) + SETTLED_MS < tools.settledBefore;
    const isSame = isSettled && stored?.startsWith(headOf(placed, facts)) === true && !isInPart(stored);
    if (isSame) yield { t: "page", entries: [seen(page.id), seenIn(filesRef(page.id))] };
    const isThere = isSame || (yield* reportParts(tools, "blocks", placed, stored)) || stored !== undefined;
    if (isThere && (isListing || !isSame)) yield* reportParts(tools, "comments", placed, stored);
  } catch (error) {
    yield* notRead(tools, page.id, error);
  }
}

/** Reads the blocks of a page, or its comments, since either can fail alone. Returns whether they were read. */
async function* reportParts(
  tools: Tools,
  what: "blocks" | "comments",
  placed: Placed,
  stored: string | undefined,
): AsyncGenerator<Event, boolean> {
  const { id } = placed.page;
  const [container, read] = what === "blocks" ? [filesRef(id), readText] : [commentsRef(id), commentItems];
  try {
    yield pageOf(container, await read(tools, placed), stored, `${what} of ${id}`);
    tools.failures.well();
    return true;
  } catch (error) {
    if (refusalOf(error) !== undefined) throw error;
    // The page's own item is built from its blocks.
    const name = what === "blocks" ? id : `${what} of ${id}`;
    yield await tools.failures.outcomeOf(name, error, messageOf(error));
    yield seenIn(container);
    return false;
  }
}

/**
 * Whether a page is stored with its present name and location. A new, moved or renamed page need not have been edited.
 */
export async function isAsStored({ ctx, tree, facts }: Tools, page: PageRecord): Promise<boolean> {
  const stored = await ctx.stored.version(page.id);
  if (stored === undefined) return false;
  return stored.startsWith(headOf({ page, chain: await tree.chainOf(page.parent) }, facts));
}

async function readText(tools: Tools, placed: Placed): Promise<Parts> {
  const { client, facts, found } = tools;
  const { text, files, children, isWhole } = await readPageText(client, placed.page.id);
  found.push(...children);
  const item = toPage(placed, text, facts);
  const page = isWhole ? item : { ...item, version: `${item.version}${IN_PART}` };
  return { items: [page, ...fileItems(tools, placed, files)], isWhole };
}

/** Suffix of the version of a page with blocks that could not be parsed, so that the page is read again each time. */
const IN_PART = "~";
const isInPart = (version: string) => version.endsWith(IN_PART);

/**
 * Builds the page of events. Stored items that aren't among the items are removed, unless a part of `what` could not be
 * parsed.
 */
function pageOf(
  container: ContainerRef,
  { items, isWhole }: Parts,
  stored: string | undefined,
  what: string,
): Page<never> {
  const kept: Outcome[] = [seenIn(container), failedSkip(what, NOT_UNDERSTOOD)];
  const listed: Outcome[] = stored === undefined ? [] : [{ t: "listed", container }];
  return { t: "page", entries: [...items.map(entryOf), ...(isWhole ? listed : kept)] };
}

/** Builds the events that remove files and comments of a page that were not named. */
export function endParts(id: string): Outcome[] {
  return [filesRef(id), commentsRef(id)].map((container) => ({ t: "listed", container }));
}

export function* deletePage(id: string): Generator<Outcome, void> {
  yield* endParts(id);
  yield { t: "delete", externalId: id };
}

/** Builds the events that keep the stored files and comments of a page that can't be read now. */
const keepParts = (id: string): Outcome[] => [filesRef(id), commentsRef(id)].map(seenIn);

/** Builds the events that keep everything stored of a page. */
export const keepPage = (id: string): Outcome[] => [seen(id), ...keepParts(id)];

const seen = (id: string): Outcome => ({ t: "seen", externalIds: [id] });
const seenIn = (container: ContainerRef): Outcome => ({ t: "seen", externalIds: [], container });

/** Handles a page that is refused or fails while others work. @throws errors that concern more than this page */
export async function* notRead(tools: Tools, id: string, error: unknown): AsyncGenerator<Outcome, void> {
  const outcome = await tools.failures.outcomeOf(id, error, messageOf(error));
  tools.reported.add(id);
  yield* keepParts(id);
  yield outcome;
}

/**
 * Reports pages and databases that were listed but could not be parsed. Those that are stored are requested
 * individually.
 */
export async function* reportOdd({ client, ctx, reported }: Tools): AsyncGenerator<Outcome, void> {
  const { ids, nameless } = client.odd.take();
  for (const id of ids)
    if (!reported.has(id) && (await ctx.stored.version(id)) === undefined) yield failedSkip(id, NOT_UNDERSTOOD);
  if (nameless > 0) yield namelessSkip("pages of the workspace", nameless, "pages or databases");
}

/**
 * Handles a database that Notion fails to return, or whose rows it fails to return.
 * @throws errors that concern more than this database
 */
export async function notLooked({ failures }: Tools, externalId: string, error: ApiError): Promise<Outcome> {
  await failures.requireOfOne(error);
  return failedSkip(externalId, error.message);
}

function messageOf(error: unknown): string {
  return error instanceof ApiError ? error.message : "It can't be read now.";
}

function fileItems({ ctx, facts }: Tools, placed: Placed, files: PageText["files"]): SourceItem[] {
  if (!ctx.config.files) return [];
  return files.flatMap((file) => (isSecretFile(file.name) ? [] : (toFile(placed, file, facts) ?? [])));
}

/** Items, and whether all of them were parsed. */
export interface Parts {
  items: SourceItem[];
  isWhole: boolean;
}

/** Returns the items of comments; none if the integration may not read comments. */
async function commentItems({ ctx, client, facts }: Tools, placed: Placed): Promise<Parts> {
  const nothing = { items: [], isWhole: true };
  if (!ctx.config.comments) return nothing;
  const found = await orRefusal(() => client.comments(placed.page.id));
  if (typeof found === "string") return nothing;
  const { comments, isWhole } = found;
  return { items: comments.map((comment) => toComment(placed, comment, facts)), isWhole };
}

/** Reads a page and its parts; undefined for a page that no longer exists or is out of scope. */
export async function readWhole(tools: Tools, page: PageRecord): Promise<Parts | undefined | "source_forbidden"> {
  const { client, tree, facts, scope } = tools;
  const placed: Placed = { page, chain: await tree.chainOf(page.parent) };
  if (isGone(page) || !isNamedIn(scope, ...idsOf(placed))) return undefined;
  const found = await orRefusal(() => readPageText(client, page.id));
  if (typeof found === "string") return found === "source_forbidden" ? found : undefined;
  const comments = await commentItems(tools, placed);
  const items = [toPage(placed, found.text, facts), ...fileItems(tools, placed, found.files), ...comments.items];
  return { items, isWhole: found.isWhole && comments.isWhole };
}

function idsOf({ page, chain }: Placed): string[] {
  return [page.id, ...chain.map(({ id }) => id)];
}
