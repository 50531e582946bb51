import { z } from "zod";
import type { SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
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
const SEEN_IDS = 500;
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
    const opened = await session.examine(folder.name);
    if (opened === undefined) {
      failed.add(folder.name);
      yield failure(folder.name);
      continue;
    }
    const { uidValidity } = opened;
    const isResumed = after !== null && after.folder === folder.name && after.uidValidity === uidValidity;
    const all = await session.search(criteriaOf(ctx.config));
    const uids = isResumed ? all.filter((uid) => uid > after.uid) : all;
    for (let i = 0; i < uids.length; i += batching.messages) {
      if (ctx.signal.aborted) return;
      const batch = uids.slice(i, i + batching.messages);
      const known: string[] = [];
      const unknown: number[] = [];
      for (const uid of batch) {
        const externalId = idOf(folder.name, uidValidity, uid);
        if ((await ctx.stored.version(externalId)) === facts.version) known.push(externalId);
        else unknown.push(uid);
      }
      for (let at = 0; at < known.length; at += SEEN_IDS)
        yield { t: "seen", externalIds: known.slice(at, at + SEEN_IDS) };
      yield* upserts(session, unknown, folder, uidValidity, facts);
      done += batch.length;
      const last = { folder: folder.name, uidValidity, uid: batch.at(-1) ?? 0 };
      yield { t: "checkpoint", cursor: { runId, after: last, done, failed: [...failed].slice(0, MAX_FAILED) } };
      yield { t: "progress", done };
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

/** Only those that were asked for, whatever the server tells. */
async function* upserts(
  session: ImapSession,
  uids: readonly number[],
  folder: MailFolder,
  uidValidity: number,
  facts: MailFacts,
): AsyncGenerator<Event, void> {
  if (uids.length === 0) return;
  const asked = new Set(uids);
  for (const fetched of await session.fetch(uids.join(","), LISTED)) {
    if (asked.delete(fetched.uid) && fetched.values.has("ENVELOPE")) {
      yield { t: "upsert", item: toItem(fetched, folder, uidValidity, facts) };
    }
  }
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
    const opened = await session.examine(folder.name);
    if (opened === undefined) {
      yield failure(externalId);
      continue;
    }
    const isSame = opened.uidValidity === place.uidValidity;
    const found = isSame ? await session.search(`UID ${place.uid} ${criteriaOf(ctx.config)}`) : [];
    if (found.includes(place.uid)) yield* upserts(session, [place.uid], folder, place.uidValidity, facts);
    else yield { t: "delete", externalId };
  }
  yield { t: "end", listing: "partial", permissions: "current" };
}

function failure(externalId: string): Event {
  return {
    t: "skip",
    externalId,
    reason: "failed",
    message: "The server can't open this folder now.",
    retryable: true,
  };
}

/** An unreadable cursor is ignored: the listing starts again, and nothing is lost. */
const StoredCursor = z.object({
  runId: z.string().nullable(),
  after: z.object({ folder: z.string(), uidValidity: z.number(), uid: z.number() }).nullable(),
  done: z.number().int(),
  failed: z.array(z.string()),
});
