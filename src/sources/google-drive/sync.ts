import { isApiError } from "#api/errors.ts";
import type { ContainerEvent } from "#sources/containers.ts";
import type { SyncContext } from "#sources/context.ts";
import { failedSkip, refusedContainer } from "#sources/failures.ts";
import { completeOf, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { readEach } from "#sources/read-each.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { SessionSpec, WalkEnd, WalkEvent, WalkRequest } from "#sources/session.ts";
import { type DriveClient, FOLDER_TYPE } from "./client.ts";
import { readLog, reportNoted } from "./changes.ts";
import type { GoogleDriveConfig } from "./config.ts";
import { type At, Checkpoint, Cursor } from "./cursor.ts";
import type { AddressBook } from "./directory.ts";
import { reportLeftOut, reportOdd } from "./left-out.ts";
import { SHORTCUT_TYPE } from "./map.ts";
import type { DriveFile } from "./records.ts";
import { refusal } from "./refusal.ts";
import {
  type Corpus,
  entriesOf,
  isUnknown,
  itemOf,
  keepPlace,
  nameOf,
  unreported,
  openTools,
  reportDueGroups,
  reportNamed,
  type Tools,
} from "./report.ts";
import { type Folder, folderRef, SHARED_WITH_ME } from "./tree.ts";

export function driveSessions(
  clientOf: (ctx: SyncContext<GoogleDriveConfig>) => DriveClient,
  book: AddressBook,
): SessionSpec<GoogleDriveConfig, Cursor, Checkpoint> {
  return {
    cursor: Cursor,
    checkpoint: Checkpoint,
    async open(ctx, run) {
      const tools = await openTools(ctx, run, clientOf(ctx), book);
      return { walk: (request) => walk(tools, request), read: (ids) => readItems(tools, ids) };
    },
  };
}

type Walk = AsyncGenerator<WalkEvent<Checkpoint>, void>;

async function* walk(
  tools: Tools,
  { since, resume }: WalkRequest<Cursor, Checkpoint>,
): AsyncGenerator<WalkEvent<Checkpoint>, WalkEnd<Cursor>> {
  const place = resume ?? { feed: { tokens: { ...since?.tokens }, isPartial: false }, after: "" };
  tools.begun = place.feed;
  if (tools.drivesError !== undefined) yield failedSkip("shared drives", tools.drivesError);
  yield* inBothHomes(
    tools,
    since ? readChanges(tools, place) : listAll(tools, place, { isResumed: resume !== undefined }),
  );
  const { tokens, isPartial } = place.feed;
  const cursor: Cursor = { type: "changes", tokens };
  // A change to a folder above a file may not be in the log, so all readers are read again twice a day.
  if (since) return { complete: false, cursor, permissions: "not_checked" };
  const { complete, ...why } = completeOf(tools.isWhole, "Google's list of shared drives");
  // Google reports whether it searched everywhere.
  const isWhole = complete && !isPartial;
  return { complete: isWhole, ...why, cursor, permissions: isWhole ? "current" : "not_checked" };
}

/**
 * Repeats events about an outermost folder. Files outside shared drives have two outermost folders, so an event about
 * one of them applies to the other too.
 */
async function* inBothHomes({ rootId }: Tools, events: Walk): Walk {
  const container = folderRef(SHARED_WITH_ME);
  for await (const event of events) {
    yield event;
    if (event.t !== "failed" && event.t !== "refused") continue;
    if ("container" in event.what && event.what.container.id === rootId) yield { ...event, what: { container } };
  }
}

/** Lists everything and then reads the changes since the listing began, or reads only the readers. */
async function* listAll(tools: Tools, place: Checkpoint, { isResumed }: { isResumed: boolean }): Walk {
  const { mode, corpora, missing, containers, unread, begun, oddDrives: odd } = tools;
  await unread.beginListing({ isResumed });
  yield* containers.odd({ odd });
  for (const id of missing) {
    yield failedSkip(id, `The shared drive ${id} doesn't exist, or the account isn't a member of it.`);
    yield refusedContainer(folderRef(id), "source_not_found");
  }
  yield* containers.walk(corpora, place, (corpus, at) => listCorpus(tools, corpus, at));
  if (mode === "access") return;
  // A file that moved from a folder not listed yet to a folder already listed is among the changes.
  for (const corpus of corpora) {
    try {
      yield* readLog(tools, corpus);
    } catch (error) {
      // The next run reads the changes since then.
      yield await containers.notRead(corpus, error);
    }
  }
  // Failures that were recorded for a corpus that was not listed still have to be requested.
  if (tools.isWhole && corpora.every(({ key }) => begun.tokens[key] !== undefined)) await unread.endListing();
  else await goOnAsBefore(tools);
}

/** Keeps the previous position in the changes for a shared drive that failed or may still exist. */
async function goOnAsBefore({ corpora, containers, begun, feed, isOdd }: Tools): Promise<void> {
  for (const [key, before] of Object.entries(feed?.tokens ?? {})) {
    const corpus = corpora.find((each) => each.key === key);
    if (corpus ? await containers.isKnown(corpus) : key !== "" && isOdd(key)) begun.tokens[key] ??= before;
  }
}

const FOLDERS = `mimeType='${FOLDER_TYPE}'`;
const FILES = `mimeType!='${FOLDER_TYPE}' and mimeType!='${SHORTCUT_TYPE}'`;

/** Lists a corpus. Returns whether Google searched everything. */
async function* listCorpus(tools: Tools, corpus: Corpus, from?: At): AsyncGenerator<ContainerEvent<At>, boolean> {
  const { client, begun, containers } = tools;
  const { key, drive } = corpus;
  tools.deletes = false;
  const start = from?.start ?? (await client.startToken(drive?.id));
  client.odd.take();
  if (drive) yield* tools.tree.driveGroups(drive);
  const { reported, hasFailed } = yield* reportFolders(tools, corpus);
  const named = new Set<string>();
  for await (const { files, incompleteSearch, nextPageToken: page } of filePages(tools, corpus, from?.page)) {
    begun.isPartial ||= incompleteSearch === true;
    const own = files.filter((file) => isOf(tools, corpus, file));
    for (const { id } of own) named.add(id);
    const entries = await entriesOf(tools, own);
    const at = page === undefined ? undefined : { start, page };
    yield { t: "page", entries: [...entries, ...(await reportNamed(tools))], at, note: nameOf(corpus) };
  }
  yield* reportOdd(tools, key, client.odd.take());
  if (!begun.isPartial) {
    // An earlier attempt named these files.
    if (from) for await (const { files } of client.list(FILES, drive?.id)) for (const { id } of files) named.add(id);
    yield* reportLeftOut(tools, drive ? [key] : [tools.rootId, SHARED_WITH_ME], named);
  }
  for (const folder of reported) keepPlace(tools, folder);
  begun.tokens[key] = start;
  await containers.isRead(corpus);
  return !hasFailed && !begun.isPartial;
}

/**
 * Reports the readers of each folder of a corpus. If a folder's readers are unknown, the readers of its contents stay
 * unchanged.
 */
async function* reportFolders(
  tools: Tools,
  corpus: Corpus,
): AsyncGenerator<Outcome, { reported: Folder[]; hasFailed: boolean }> {
  const { client, tree, ctx, begun } = tools;
  const folders: DriveFile[] = [];
  const reported: Folder[] = [];
  for await (const { files, incompleteSearch } of client.list(FOLDERS, corpus.drive?.id)) {
    begun.isPartial ||= incompleteSearch === true;
    folders.push(...files.filter((record) => isOf(tools, corpus, record)));
  }
  const odd = client.odd.take();
  yield* reportOdd(tools, corpus.key, odd);
  // A folder without an id can be anywhere in the corpus, with all its contents.
  const unread = odd.nameless > 0 ? [...odd.ids, corpus.id] : odd.ids;
  for (const id of unread) yield { t: "failed", what: { container: folderRef(id) }, message: NOT_UNDERSTOOD };
  let hasFailed = unread.length > 0;
  for (const record of folders) tree.add(record);
  for (const { id } of folders) {
    ctx.signal.throwIfAborted();
    try {
      const folder = await tree.folder(id);
      if (!folder) continue;
      yield tree.groupOf(folder);
      reported.push(folder);
    } catch (error) {
      const { message } = await unreported(tools, id, error);
      yield { t: "failed", what: { container: folderRef(id) }, message };
      hasFailed = true;
    }
  }
  return { reported, hasFailed };
}

async function* filePages({ client }: Tools, { drive }: Corpus, page?: string) {
  for (let from = page; ;) {
    try {
      for await (const answer of client.list(FILES, drive?.id, from)) {
        yield answer;
        from = undefined;
      }
      return;
    } catch (error) {
      // The page token of an earlier attempt is valid for some hours. After that, the corpus begins again.
      if (from === undefined || !isApiError(error) || error.details?.["status"] !== 400) throw error;
      from = undefined;
    }
  }
}

/** Whether a file belongs to a corpus. Files of a shared drive are in the log and the listing of their drive. */
function isOf({ isMember }: Tools, { key }: Corpus, { driveId }: DriveFile): boolean {
  return key === "" ? driveId === undefined || !isMember(driveId) : driveId === key;
}

/** Reads the changes in each corpus since its token, and the files that earlier runs could not read. */
async function* readChanges(tools: Tools, place: Checkpoint): Walk {
  const { corpora, containers, begun } = tools;
  const here = new Set(corpora.map(({ key }) => key));
  const due = await tools.unread.due();
  for (const key of Object.keys(begun.tokens)) {
    if (here.has(key) || tools.isOdd(key)) continue;
    await containers.forget(key === "" ? tools.rootId : key);
    if (key !== "") yield { t: "delete_container", ...folderRef(key) };
  }
  yield* containers.walk(corpora, place, (corpus, at) => readAgain(tools, corpus, at));
  yield* reportNoted(tools, due);
  yield* await reportNamed(tools);
  yield* reportDueGroups(tools);
}

/** Reads the changes in a corpus, or all of it if it is new or was refused before. */
async function* readAgain(tools: Tools, corpus: Corpus, at?: At): AsyncGenerator<ContainerEvent<At>, void> {
  const { containers, begun } = tools;
  const { id, drive } = corpus;
  if (begun.tokens[corpus.key] !== undefined) {
    if (drive) yield* tools.tree.driveGroups(drive);
    yield* readLog(tools, corpus);
    await containers.isRead(corpus);
  } else if (await containers.isWaiting(corpus)) yield containers.waiting(id, nameOf(corpus));
  else {
    const isWhole = yield* listCorpus(tools, corpus, at);
    if (drive && isWhole) yield { t: "listed", container: folderRef(id) };
  }
}

/** Reads the present state of the requested items. Items that were just listed aren't requested again. */
async function* readItems(tools: Tools, externalIds: readonly string[]): AsyncGenerator<Outcome, void> {
  yield* readEach<Outcome>(tools, externalIds, (externalId) => readOne(tools, externalId));
  yield* await reportNamed(tools);
}

async function readOne(tools: Tools, externalId: string): Promise<Outcome[]> {
  const listed = tools.atHand.get(externalId);
  if (listed) return [{ t: "upsert", item: listed }];
  try {
    const file = await tools.client.find(externalId);
    if (file && isUnknown(tools, file)) return [failedSkip(externalId, NOT_UNDERSTOOD)];
    const item = file && (await itemOf(tools, file));
    return item ? ["t" in item ? item : { t: "upsert", item }] : [];
  } catch (error) {
    if (!isApiError(error, "source_forbidden")) throw error;
    return [await refusal(tools, externalId)];
  }
}
