import { refused } from "#sources/failures.ts";
import { unavailable } from "#sources/errors.ts";
import { isApiError } from "#api/errors.ts";
import type { ContainerEvent } from "#sources/containers.ts";
import { notUnderstood } from "#sources/unread.ts";
import { FOLDER_TYPE } from "./client.ts";
import { reportLeftOut, reportOdd } from "./left-out.ts";
import type { DriveFile } from "./records.ts";
import { refusal } from "./refusal.ts";
import {
  type Corpus,
  entriesOf,
  folderKey,
  isRead,
  isUnknown,
  keepPlace,
  unreported,
  placeKeyOf,
  reportNamed,
  type Tools,
} from "./report.ts";
import { folderRef } from "./tree.ts";

type Events = AsyncGenerator<ContainerEvent<never>, void>;

/**
 * Reads the changes in a corpus since its stored token, which advances with each page. A corpus that was not read in
 * full has no changes.
 */
export async function* readLog(tools: Tools, { key, drive }: Corpus): Events {
  const { client, unread, begun } = tools;
  tools.deletes = true;
  client.odd.take();
  let failedFrom: string | undefined;
  for (let from = begun.tokens[key]; from !== undefined;) {
    const { changes, nextPageToken, newStartPageToken } = await client.changes(from, drive?.id);
    const files = new Map<string, { file: DriveFile | undefined; isRemoved: boolean }>();
    for (const { changeType, fileId, file, removed } of changes) {
      if (changeType === "drive" || fileId === undefined) continue;
      // If a file has several entries, only the last one applies.
      files.delete(fileId);
      files.set(fileId, { file, isRemoved: removed === true });
    }
    const odd = client.odd.take();
    for (const id of odd.ids) files.set(id, { file: undefined, isRemoved: false });
    yield* reportOdd(tools, key, { ids: [], nameless: odd.nameless });
    yield* reportChanges(tools, files);
    // More files failed than can be recorded, so the next run reads this page and everything after it again.
    if (unread.isFull()) failedFrom ??= from;
    const next = nextPageToken ?? newStartPageToken;
    if (next === undefined) throw unavailable("Google's list of changes doesn't end.");
    const entries = await reportNamed(tools);
    begun.tokens[key] = failedFrom ?? next;
    yield { t: "page", entries };
    if (nextPageToken === from) {
      throw unavailable("Google keeps sending the same page.");
    }
    from = nextPageToken;
  }
}

/** Reads the present state of files that earlier runs could not read. */
export async function* reportNoted(tools: Tools, due: readonly string[]): Events {
  tools.deletes = true;
  for (const id of due) {
    // A file that fails again is recorded again.
    await tools.unread.done(id);
    yield* reportChanges(tools, new Map([[id, { file: undefined, isRemoved: false }]]));
  }
}

async function* reportChanges(
  tools: Tools,
  changes: ReadonlyMap<string, { file: DriveFile | undefined; isRemoved: boolean }>,
): Events {
  const { client, tree } = tools;
  const found = new Map<string, DriveFile | undefined>();
  const refused: string[] = [];
  const failed: Awaited<ReturnType<typeof unreported>>[] = [];
  for (const [id, { file, isRemoved }] of changes) {
    try {
      // A file that left this log may be in another one. Its present location applies.
      const now = isRemoved || !file ? await client.find(id) : file;
      found.set(id, now?.trashed === true ? undefined : now);
      if (now?.mimeType === FOLDER_TYPE) tree.add(now);
    } catch (error) {
      if (isApiError(error, "source_forbidden")) refused.push(id);
      else failed.push(await unreported(tools, id, error));
    }
  }
  yield* failed;
  for (const id of refused) yield await refusal(tools, id);
  for (const [id, file] of found) {
    tools.ctx.signal.throwIfAborted();
    try {
      yield* reportChange(tools, id, file);
    } catch (error) {
      yield await unreported(tools, id, error);
    }
  }
}

async function* reportChange(tools: Tools, id: string, file: DriveFile | undefined): Events {
  if (file?.driveId !== undefined && isUnknown(tools, file)) yield* notPlaced(tools, id, file.driveId);
  else if (!file || !isRead(tools, file)) yield* gone(tools, id);
  else if (file.mimeType === FOLDER_TYPE) yield* changedFolder(tools, file);
  else yield { t: "page", entries: await entriesOf(tools, [file]) };
}

/**
 * Reports a file in a shared drive that could not be parsed. The drive's readers are unknown, so the readers of the
 * file's old location lose their access.
 */
async function* notPlaced(tools: Tools, externalId: string, driveId: string): Events {
  const { stored } = tools.ctx;
  let isThere = (await stored.version(externalId)) === undefined;
  if (!isThere) for await (const known of stored.list(folderRef(driveId))) isThere ||= known.externalId === externalId;
  if (!isThere) yield refused(externalId, "source_forbidden");
  yield await notUnderstood(tools, externalId);
}

/** Reports that a file no longer exists, or a folder with everything in it. */
async function* gone({ ctx }: Tools, id: string): Events {
  const key = folderKey(id);
  if ((await ctx.state.get(key)) === undefined) {
    yield { t: "delete", externalId: id };
    return;
  }
  yield { t: "delete_container", ...folderRef(id) };
  ctx.state.put(key, undefined);
}

/**
 * Reports a changed folder. Its readers are stored in a single row. Its contents are reported again if it moved or was
 * renamed.
 */
async function* changedFolder(tools: Tools, { id, driveId }: DriveFile): Events {
  const { ctx, tree } = tools;
  const folder = await tree.folder(id);
  if (!folder) {
    yield* gone(tools, id);
    return;
  }
  yield tree.groupOf(folder);
  if ((await ctx.state.get(folderKey(id))) === placeKeyOf(folder)) return;
  const corpus = driveId !== undefined && tools.isMember(driveId) ? driveId : undefined;
  const named = new Set<string>();
  if (yield* walk(tools, id, { driveId: corpus, depth: 0, named })) {
    yield* reportLeftOut(tools, [id], named);
    yield { t: "listed", container: folderRef(id) };
  }
  keepPlace(tools, folder);
}

/** The most levels of folders. Google allows 100. */
const MAX_DEPTH = 110;

/** Reports everything in a folder, including nested folders. Returns whether Google listed all of it. */
async function* walk(
  tools: Tools,
  id: string,
  { driveId, depth, named }: { driveId: string | undefined; depth: number; named: Set<string> },
): AsyncGenerator<ContainerEvent<never>, boolean> {
  if (depth > MAX_DEPTH) return false;
  const { client, tree } = tools;
  let isWhole = true;
  const folders: string[] = [];
  for await (const page of client.list(`'${id}' in parents`, driveId)) {
    isWhole &&= page.incompleteSearch !== true;
    for (const file of page.files) {
      named.add(file.id);
      if (file.mimeType !== FOLDER_TYPE) continue;
      tree.add(file);
      folders.push(file.id);
    }
    yield { t: "page", entries: await entriesOf(tools, page.files) };
    const odd = client.odd.take();
    isWhole &&= odd.ids.length === 0 && odd.nameless === 0;
    for (const each of odd.ids) yield await notUnderstood(tools, each);
    yield* reportOdd(tools, driveId ?? "", { ids: [], nameless: odd.nameless });
  }
  for (const inner of folders) {
    const folder = await tree.folder(inner);
    if (!folder) continue;
    yield tree.groupOf(folder);
    keepPlace(tools, folder);
    isWhole = (yield* walk(tools, inner, { driveId, depth: depth + 1, named })) && isWhole;
  }
  return isWhole;
}
