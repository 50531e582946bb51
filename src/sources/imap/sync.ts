import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import { failedSkip } from "#sources/failures.ts";
import { tellSeen } from "#sources/seen.ts";
import type { ImapConfig } from "./config.ts";
import { chooseFolders, idOf, type MailFolder, parseId, toFolders } from "./folders.ts";
import { factsOf, LISTED, type MailFacts, toItem } from "./map.ts";
import { type ImapSession, openSession } from "./session.ts";

/** Where a run stands. Another run starts at the beginning, since it must name everything itself. */
export interface ImapCursor {
  runId: string | null;
  /** The folder that was read up to this number, and whether it is in the same validity still; null at the beginning or end. */
  after: { folder: string; uidValidity: number; uid: number } | null;
  done: number;
  /** Folders that could not be opened. */
  failed: string[];
}

type Event = SyncEvent<ImapCursor>;
type Context = SyncContext<ImapConfig>;

/** How much is asked for, and handed over between two checkpoints. */
export interface Batching {
  messages: number;
}

export const DEFAULT_BATCHING: Batching = { messages: 200 };
const MAX_FAILED = 1_000;

/** One run: the numbers of all messages, and the heads of those that are new. `items` asks for just those. */
export async function* syncMailbox(
  ctx: Context,
  run: SyncRequest<ImapCursor>,
  batching: Batching,
): AsyncGenerator<Event, void> {
  const session = await openSession(ctx, ctx.signal);
  try {
    const chosen = chooseFolders(toFolders(await session.list()), run.scope, ctx.config);
    const tools = { session, facts: factsOf(ctx), batching };
    if (run.mode === "items") yield* syncItems(ctx, run, chosen, tools);
    else yield* syncAll(ctx, run, chosen, tools);
  } finally {
    session.close();
  }
}

interface Tools {
  session: ImapSession;
  facts: MailFacts;
  batching: Batching;
}

async function* syncAll(
  ctx: Context,
  run: SyncRequest<ImapCursor>,
  folders: readonly MailFolder[],
  { session, facts, batching }: Tools,
): AsyncGenerator<Event, void> {
  const runId = run.runId ?? null;
  const former = StoredCursor.safeParse(run.cursor).data;
  const resumed = runId !== null && former?.runId === runId ? former : undefined;
  const after = resumed?.after ?? null;
  const failed = new Set(resumed?.failed);
  let done = resumed?.done ?? 0;
  for (const folder of folders) {
    if (ctx.signal.aborted) return;
    if (after !== null && folder.name < after.folder) continue;
    try {
      for await (const { events, count, last } of readFolder(ctx, folder, after, { session, facts, batching })) {
        if (ctx.signal.aborted) return;
        yield* events;
        done += count;
        yield { t: "checkpoint", cursor: { runId, after: last, done, failed: [...failed].slice(0, MAX_FAILED) } };
        yield { t: "progress", done };
      }
    } catch (error) {
      if (!isOfFolder(error)) throw error;
      failed.add(folder.name);
      yield failedSkip(folder.name, "The server can't open or read this folder now.");
    }
  }
  if (ctx.signal.aborted) return;
  yield { t: "checkpoint", cursor: { runId: null, after: null, done, failed: [] } };
  yield { t: "progress", done, total: done };
  const notLookedAt = [...failed].map((id) => ({ container: { type: "folder", id } }) as const);
  yield {
    t: "end",
    // What is not named in `notLookedAt` would go.
    listing: failed.size < MAX_FAILED ? "complete" : "partial",
    ...(notLookedAt.length > 0 && { notLookedAt }),
    permissions: "current",
  };
}

interface Batch {
  events: Event[];
  count: number;
  last: NonNullable<ImapCursor["after"]>;
}

/** The messages of a folder in the order of their numbers, from where an attempt has ended. @throws ApiError that `isOfFolder` */
async function* readFolder(
  ctx: Context,
  folder: MailFolder,
  after: ImapCursor["after"],
  { session, facts, batching }: Tools,
): AsyncGenerator<Batch, void> {
  const opened = await session.examine(folder.name);
  if (opened === undefined) throw new FolderClosed();
  const { uidValidity } = opened;
  const isResumed = after !== null && after.folder === folder.name && after.uidValidity === uidValidity;
  const all = await session.search(criteriaOf(ctx.config));
  const uids = isResumed ? all.filter((uid) => uid > after.uid) : all;
  for (let i = 0; i < uids.length && !ctx.signal.aborted; i += batching.messages) {
    const batch = uids.slice(i, i + batching.messages);
    const known: string[] = [];
    const unknown: number[] = [];
    for (const uid of batch) {
      const externalId = idOf(folder.name, uidValidity, uid);
      if ((await ctx.stored.version(externalId)) === facts.version) known.push(externalId);
      else unknown.push(uid);
    }
    const events: Event[] = tellSeen(known);
    events.push(...(await upserts(ctx, session, unknown, folder, uidValidity, facts)));
    yield { events, count: batch.length, last: { folder: folder.name, uidValidity, uid: batch.at(-1) ?? 0 } };
  }
}

/** The server doesn't open a folder that it lists. */
class FolderClosed extends Error {}

/** True when the connection is well, and others can be read by it. */
function isOfFolder(error: unknown): boolean {
  return error instanceof FolderClosed || (error instanceof ApiError && error.details?.["isOfFolder"] === true);
}

/** Only those that were asked for, whatever the server tells. One that it says nothing of, and still has, stays as it is. */
async function upserts(
  ctx: Context,
  session: ImapSession,
  uids: readonly number[],
  folder: MailFolder,
  uidValidity: number,
  facts: MailFacts,
): Promise<Event[]> {
  if (uids.length === 0) return [];
  const asked = new Set(uids);
  const events: Event[] = [];
  for (const fetched of await session.fetch(uids.join(","), LISTED)) {
    if (!fetched.values.has("ENVELOPE") || !asked.delete(fetched.uid)) continue;
    events.push({ t: "upsert", item: toItem(fetched, folder, uidValidity, facts) });
  }
  if (asked.size === 0) return events;
  const there = await session.search(`UID ${[...asked].join(",")} ${criteriaOf(ctx.config)}`);
  for (const uid of there.filter((each) => asked.has(each)))
    events.push(failedSkip(idOf(folder.name, uidValidity, uid), "The server doesn't tell what this message is."));
  return events;
}

/** Messages that are marked as deleted are not there for people either. */
function criteriaOf({ since }: ImapConfig): string {
  if (since === undefined) return "UNDELETED";
  const [year, month, day] = since.split("-").map(Number);
  return `UNDELETED SINCE ${day}-${MONTHS[(month ?? 1) - 1]}-${year}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

async function* syncItems(
  ctx: Context,
  run: SyncRequest<ImapCursor>,
  folders: readonly MailFolder[],
  { session, facts }: Tools,
): AsyncGenerator<Event, void> {
  for (const externalId of run.externalIds ?? []) {
    if (ctx.signal.aborted) return;
    const place = parseId(externalId);
    const folder = folders.find(({ name }) => name === place?.folder);
    if (place === undefined || folder === undefined) {
      yield { t: "delete", externalId };
      continue;
    }
    try {
      const opened = await session.examine(folder.name);
      if (opened === undefined) throw new FolderClosed();
      const isSame = opened.uidValidity === place.uidValidity;
      const found = isSame ? await session.search(`UID ${place.uid} ${criteriaOf(ctx.config)}`) : [];
      if (found.includes(place.uid)) yield* await upserts(ctx, session, [place.uid], folder, place.uidValidity, facts);
      else yield { t: "delete", externalId };
    } catch (error) {
      if (!isOfFolder(error)) throw error;
      yield failedSkip(externalId, "The server can't open or read its folder now.");
    }
  }
  yield { t: "end", listing: "partial", permissions: "current" };
}

/** An unreadable cursor is ignored: the listing starts again, and nothing is lost. */
const StoredCursor = z.object({
  runId: z.string().nullable(),
  after: z.object({ folder: z.string(), uidValidity: z.number(), uid: z.number() }).nullable(),
  done: z.number().int(),
  failed: z.array(z.string()),
});
