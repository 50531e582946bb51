import { isApiError } from "#api/errors.ts";
import type { SyncRequest, What } from "#sources/contract.ts";
import { failedSkip, refusalOf } from "#sources/failures.ts";
import { listingOf, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { readEach } from "#sources/read-each.ts";
import { type DriveClient, FOLDER_TYPE } from "./client.ts";
import { syncChanges, tellNoted } from "./changes.ts";
import { GoogleDriveCursor } from "./cursor.ts";
import type { AddressBook } from "./directory.ts";
import { tellLeftOut, tellOdd } from "./left-out.ts";
import { SHORTCUT_TYPE } from "./map.ts";
import type { DriveFile } from "./records.ts";
import { refusal } from "./refusal.ts";
import {
  type Corpus,
  type DriveSyncContext,
  type Event,
  notTold,
  openTools,
  tellDueGroups,
  isUnknown,
  tellFiles,
  tellFolder,
  tellNamed,
  type Tools,
} from "./tell.ts";
import { folderRef } from "./tree.ts";

export async function* syncDrive(
  ctx: DriveSyncContext,
  client: DriveClient,
  book: AddressBook,
  run: SyncRequest<GoogleDriveCursor>,
): AsyncGenerator<Event, void> {
  const cursor = GoogleDriveCursor.safeParse(run.cursor).data;
  const tools = await openTools(ctx, run, client, book);
  if (run.mode === "items") yield* readItems(tools);
  else if (run.mode === "incremental" && cursor?.type === "changes") yield* readChanges(tools, cursor.tokens);
  else yield* listAll(tools, cursor);
}

type Listing = Extract<GoogleDriveCursor, { type: "listing" }>;

/** Everything, and then what changed meanwhile; or only who may read it. */
async function* listAll(tools: Tools, cursor: GoogleDriveCursor | undefined): AsyncGenerator<Event, void> {
  const { run, corpora, missing } = tools;
  const runId = run.runId ?? null;
  // Only an attempt of the same run goes on: the listing of another named what may be gone by now.
  const former = cursor?.type === "listing" && runId !== null && cursor.runId === runId ? cursor : undefined;
  const at: Listing = former ?? {
    type: "listing",
    runId,
    tokens: {},
    over: [],
    done: 0,
    notLookedAt: [],
    isPartial: false,
  };
  if (!former) await tools.unread.clear();
  for (const id of tools.oddDrives) {
    yield failedSkip(id, NOT_UNDERSTOOD);
    if (!at.notLookedAt.includes(id)) at.notLookedAt.push(id);
  }
  for (const id of missing)
    yield failedSkip(id, `The shared drive ${id} doesn't exist, or the account isn't a member of it.`);
  for (const id of missing) yield { t: "refused", what: { container: folderRef(id) }, code: "source_not_found" };
  for (const corpus of corpora) {
    const { key } = corpus;
    if (at.over.includes(key)) continue;
    try {
      at.tokens[key] ??= await tools.client.startToken(corpus.drive?.id);
      yield* listCorpus(tools, corpus, at);
    } catch (error) {
      delete at.tokens[key];
      const events = await notRead(tools, corpus, error);
      yield* events;
      if (events.some(({ t }) => t === "skip")) at.notLookedAt.push(...placesOf(tools, corpus));
    }
    at.over.push(key);
    delete at.page;
    yield* tellNamed(tools);
    yield { t: "checkpoint", cursor: structuredClone(at) };
  }
  const tokens = { ...at.tokens };
  // What moved meanwhile from where it was not listed yet to where all was listed is in the changes.
  if (run.mode === "full" || run.mode === "incremental") {
    for (const corpus of corpora) {
      const token = tokens[corpus.key];
      if (token === undefined) continue;
      try {
        for await (const event of syncChanges(tools, corpus, token)) {
          if (event.t === "page") tokens[corpus.key] = event.token;
          else yield event;
        }
      } catch (error) {
        // What changed since is asked for by the next run.
        yield* await notRead(tools, corpus, error);
      }
    }
    yield* tellNamed(tools);
  }
  yield { t: "checkpoint", cursor: { type: "changes", tokens } };
  const notLookedAt = at.notLookedAt.map((id): What => ({ container: folderRef(id) }));
  yield {
    t: "end",
    ...listingOf(tools.isWhole, "Google's list of shared drives"),
    // Google says itself when it has not looked everywhere.
    ...(at.isPartial && { listing: "partial" }),
    ...(notLookedAt.length > 0 && { notLookedAt }),
    permissions: at.isPartial ? "not_checked" : "current",
  };
}

const FOLDERS = `mimeType='${FOLDER_TYPE}'`;
const FILES = `mimeType!='${FOLDER_TYPE}' and mimeType!='${SHORTCUT_TYPE}'`;

async function* listCorpus(tools: Tools, corpus: Corpus, at: Listing): AsyncGenerator<Event, void> {
  const { client, tree, ctx } = tools;
  const { key, drive } = corpus;
  tools.deletes = false;
  client.odd.take();
  if (drive) yield* tree.driveGroups(drive);
  const folders: DriveFile[] = [];
  for await (const page of client.list(FOLDERS, drive?.id)) {
    at.isPartial ||= page.incompleteSearch === true;
    for (const record of page.files) if (isOf(tools, corpus, record)) folders.push(record);
  }
  for (const record of folders) tree.add(record);
  for (const { id } of folders) {
    ctx.signal.throwIfAborted();
    try {
      const folder = await tree.folder(id);
      if (folder) yield* tellFolder(tools, folder);
    } catch (error) {
      yield await notTold(tools, id, error);
      // Who reads what is in it is as it was.
      at.notLookedAt.push(id);
    }
  }
  const named = new Set<string>();
  const isResumed = at.page?.key === key;
  for await (const { page, next } of filePages(tools, corpus, at)) {
    at.isPartial ||= page.incompleteSearch === true;
    const own = page.files.filter((file) => isOf(tools, corpus, file));
    for (const { id } of own) named.add(id);
    yield* tellFiles(tools, own);
    yield* tellNamed(tools);
    at.done += own.length;
    yield { t: "progress", done: at.done };
    if (next === undefined) continue;
    at.page = { key, token: next };
    yield { t: "checkpoint", cursor: structuredClone(at) };
  }
  const odd = client.odd.take();
  yield* tellOdd(tools, key, odd);
  if (at.isPartial) return;
  // What an attempt before this one named.
  if (isResumed) for await (const { files } of client.list(FILES, drive?.id)) for (const { id } of files) named.add(id);
  yield* tellLeftOut(tools, drive ? [key] : tools.homes, named);
  yield* tellNamed(tools);
}

async function* filePages({ client }: Tools, { key, drive }: Corpus, { page: kept }: Listing) {
  let from = kept?.key === key ? kept.token : undefined;
  for (;;) {
    try {
      for await (const page of client.list(FILES, drive?.id, from)) {
        yield { page, next: page.nextPageToken };
        from = undefined;
      }
      return;
    } catch (error) {
      // The place where another attempt ended is known for some hours: else this corpus begins again.
      if (from === undefined || !isApiError(error) || error.details?.["status"] !== 400) throw error;
      from = undefined;
    }
  }
}

/** Files of shared drives are in the log and listing of theirs. */
function isOf({ isMember }: Tools, { key }: Corpus, { driveId }: DriveFile): boolean {
  return key === "" ? driveId === undefined || !isMember(driveId) : driveId === key;
}

/** What changed in each corpus since its token. */
async function* readChanges(tools: Tools, former: Readonly<Record<string, string>>): AsyncGenerator<Event, void> {
  const { corpora, run } = tools;
  const tokens = { ...former };
  const here = new Set(corpora.map(({ key }) => key));
  const due = await tools.unread.due();
  for (const key of Object.keys(former)) {
    if (here.has(key) || tools.isOdd(key)) continue;
    delete tokens[key];
    if (key !== "") yield { t: "delete_container", ...folderRef(key) };
  }
  for (const corpus of corpora) {
    const { key, drive } = corpus;
    try {
      const token = tokens[key];
      if (token === undefined) {
        const start = await tools.client.startToken(drive?.id);
        const at: Listing = {
          type: "listing",
          runId: run.runId ?? null,
          tokens: {},
          over: [],
          done: 0,
          notLookedAt: [],
          isPartial: false,
        };
        for await (const event of listCorpus(tools, corpus, at)) if (event.t !== "checkpoint") yield event;
        if (drive && !at.isPartial) yield { t: "listed", container: folderRef(key) };
        tokens[key] = start;
      } else {
        if (drive) yield* tools.tree.driveGroups(drive);
        for await (const event of syncChanges(tools, corpus, token)) {
          if (event.t !== "page") {
            yield event;
            continue;
          }
          yield* tellNamed(tools);
          tokens[key] = event.token;
          yield { t: "checkpoint", cursor: { type: "changes", tokens: { ...tokens } } };
        }
      }
    } catch (error) {
      const events = await notRead(tools, corpus, error);
      yield* events;
      // Once it is shown again everything in it is told.
      if (events.some(({ t }) => t === "refused")) delete tokens[key];
    }
    yield* tellNamed(tools);
    yield { t: "checkpoint", cursor: { type: "changes", tokens: { ...tokens } } };
  }
  yield* tellNoted(tools, due);
  yield* tellNamed(tools);
  yield* tellDueGroups(tools);
  yield { t: "checkpoint", cursor: { type: "changes", tokens } };
  // A change of what is above may not be in the log: who reads what is read whole, twice a day.
  yield { t: "end", listing: "partial", permissions: "not_checked" };
}

/** Only these, as they are now. */
async function* readItems(tools: Tools): AsyncGenerator<Event, void> {
  tools.deletes = true;
  yield* readEach<Event>(tools, tools.run.externalIds, (externalId) => readOne(tools, externalId));
  yield* tellNamed(tools);
  yield { t: "end", listing: "partial", permissions: "not_checked" };
}

async function readOne(tools: Tools, externalId: string): Promise<Event[]> {
  try {
    const file = await tools.client.find(externalId);
    if (file && isUnknown(tools, file)) return [failedSkip(externalId, NOT_UNDERSTOOD)];
    const events: Event[] = [];
    if (file && file.trashed !== true) for await (const event of tellFiles(tools, [file])) events.push(event);
    return events.some(({ t }) => t === "upsert" || t === "skip") ? events : [];
  } catch (error) {
    if (!isApiError(error, "source_forbidden")) throw error;
    return [await refusal(tools, externalId)];
  }
}

/** A shared drive, or what is in none, that is refused, or fails, alone. @throws what is about more than that */
async function notRead(
  tools: Tools,
  corpus: Corpus,
  error: unknown,
): Promise<Extract<Event, { t: "refused" | "skip" }>[]> {
  const code = refusalOf(error);
  if (code === undefined) await tools.failures.requireOfOne(error);
  const places = placesOf(tools, corpus);
  if (code !== undefined) return places.map((id) => ({ t: "refused", what: { container: folderRef(id) }, code }));
  return [failedSkip(places.join(), `${corpus.drive?.name ?? "My Drive"} can't be read now.`)];
}

/** The outermost folders of a corpus. */
function placesOf({ homes }: Tools, { key, drive }: Corpus): readonly string[] {
  return drive ? [key] : homes;
}
