import { z } from "zod";
import type { SyncContext, SyncEvent, SyncRequest, What } from "#sources/contract.ts";
import { failedSkip, makeFailures, refusalOf } from "#sources/failures.ts";
import { halfRead, listingOf, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { tellItems } from "#sources/seen.ts";
import { makeWaits, notRead, waitingSkip } from "#sources/waits.ts";
import { windowStart } from "#sources/chat/config.ts";
import { roomRef } from "#sources/chat/rooms.ts";
import { makeClient } from "./client.ts";
import type { SlackConfig } from "./config.ts";
import { isRoot, type Room, stampOf } from "./map.ts";
import { readItems, readRooms, readThreads, tellOdd, type Tools } from "./threads.ts";

const SlackCursor = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("listing"),
    runId: z.string().nullable(),
    at: z.number(),
    /** Every channel up to this one was read, and of the next what is newer than `latest`. */
    after: z.string(),
    channel: z.object({ id: z.string(), latest: z.string() }).optional(),
    done: z.number(),
    notLookedAt: z.array(z.string()),
  }),
  z.object({
    type: z.literal("changes"),
    /** When the last run began that read every channel. */
    at: z.number(),
    run: z.object({ runId: z.string().nullable(), at: z.number(), after: z.string() }).optional(),
  }),
]);
export type SlackCursor = z.infer<typeof SlackCursor>;

type Context = SyncContext<SlackConfig>;
type Event = SyncEvent<SlackCursor>;

const DAY_MS = 86_400_000;
/** What is older is not read again by increments: an edit does not change the time of a message, and no feed tells it. */
const READ_AGAIN_MS = 7 * DAY_MS;

export async function* syncChannels(ctx: Context, run: SyncRequest<SlackCursor>): AsyncGenerator<Event, void> {
  const client = makeClient(ctx);
  const { team_id: team, url } = await client.whoAmI();
  const home = (url ?? "https://app.slack.com").replace(/\/+$/, "");
  const start = windowStart(ctx.config, ctx.now());
  const failures = makeFailures(() => client.whoAmI());
  const tools: Tools = { ctx, client, team, home, users: new Map(), run, start, failures, waits: makeWaits(ctx) };
  const cursor = SlackCursor.safeParse(run.cursor).data;
  if (run.mode === "items") yield* readItems(tools);
  else if (run.mode === "incremental" && cursor?.type === "changes") yield* readRecent(tools, cursor);
  else yield* listAll(tools, cursor);
}

async function* listAll(tools: Tools, cursor: SlackCursor | undefined): AsyncGenerator<Event, void> {
  const { ctx, run, start } = tools;
  const runId = run.runId ?? null;
  // Only an attempt of the same run goes on: the listing of another named what may be gone by now.
  const former = cursor?.type === "listing" && runId !== null && cursor.runId === runId ? cursor : undefined;
  const at = former?.at ?? ctx.now();
  const notLookedAt = [...(former?.notLookedAt ?? [])];
  let { after, done } = { after: former?.after ?? "", done: former?.done ?? 0 };
  const position = (channel?: { id: string; latest: string }): SlackCursor => ({
    type: "listing",
    runId,
    at,
    after,
    done,
    notLookedAt: [...notLookedAt],
    ...(channel && { channel }),
  });
  const { rooms, odd, isWhole, missing } = await readRooms(tools);
  yield* tellMissing(missing);
  for (const id of odd) {
    yield oddRoom(ctx, id);
    if (!notLookedAt.includes(id)) notLookedAt.push(id);
  }
  for (const room of rooms) {
    if (room.id <= after) continue;
    const latest = former?.channel?.id === room.id ? former.channel.latest : undefined;
    try {
      for await (const page of readRoom(tools, room, start, latest)) {
        yield* page.events;
        done += page.count;
        yield { t: "progress", done };
        if (page.latest !== undefined)
          yield { t: "checkpoint", cursor: position({ id: room.id, latest: page.latest }) };
      }
      ctx.state.put(`channel:${room.id}`, room.name);
      await tools.waits.done(room.id);
    } catch (error) {
      yield await roomNotRead(tools, room, error);
      notLookedAt.push(room.id);
    }
    after = room.id;
    yield { t: "checkpoint", cursor: position() };
  }
  if (isWhole) ctx.state.put("channels", [...rooms.map(({ id }) => id), ...odd].slice(0, MOST_KNOWN));
  yield { t: "checkpoint", cursor: { type: "changes", at } };
  const places = notLookedAt.map((id): What => ({ container: roomRef(id) }));
  yield {
    t: "end",
    ...listingOf(isWhole, "Slack's list of channels"),
    permissions: "current",
    ...(places.length > 0 && { notLookedAt: places }),
  };
}

/**
 * The last days of each channel again. Who may read a channel is told apart, and no message moves from one to another: so
 * what is not read has the permissions that it had.
 */
async function* readRecent(
  tools: Tools,
  { at: before, run: former }: Extract<SlackCursor, { type: "changes" }>,
): AsyncGenerator<Event, void> {
  const { ctx, run, start } = tools;
  const runId = run.runId ?? null;
  const own = former && runId !== null && former.runId === runId ? former : undefined;
  const at = own?.at ?? ctx.now();
  const recent = Math.max(start, Math.min(at - READ_AGAIN_MS, before - DAY_MS));
  const { rooms, odd, isWhole, missing } = await readRooms(tools);
  yield* tellMissing(missing);
  for (const id of odd) yield oddRoom(ctx, id);
  for (const room of rooms) {
    if (own && room.id <= own.after) continue;
    // What is new, or is called otherwise, is read whole.
    const isKnown = (await ctx.state.get(`channel:${room.id}`)) === room.name;
    if (!isKnown && (await tools.waits.isWaiting(room.id))) {
      yield* readWaiting(tools, room, recent);
      continue;
    }
    const from = isKnown ? recent : start;
    try {
      for await (const { events } of readRoom(tools, room, from)) yield* events;
      yield { t: "listed", container: roomRef(room.id), ...(isKnown && { from }) };
      ctx.state.put(`channel:${room.id}`, room.name);
      await tools.waits.done(room.id);
    } catch (error) {
      yield await roomNotRead(tools, room, error);
    }
    yield { t: "checkpoint", cursor: { type: "changes", at: before, run: { runId, at, after: room.id } } };
  }
  if (isWhole) {
    const here = new Set([...rooms.map(({ id }) => id), ...odd]);
    for (const id of Known.safeParse(await ctx.state.get("channels")).data ?? []) {
      if (here.has(id)) continue;
      ctx.state.put(`channel:${id}`, undefined);
      yield { t: "delete_container", ...roomRef(id) };
    }
    ctx.state.put("channels", [...here].slice(0, MOST_KNOWN));
  }
  yield { t: "checkpoint", cursor: { type: "changes", at } };
  yield { t: "end", listing: "partial", permissions: "current" };
}

const Known = z.array(z.string());
/** So many ids fit into one value of the state; of more, a full run finds those that are gone. */
const MOST_KNOWN = 4_000;

/** What is new in a channel that waits to be read whole. */
async function* readWaiting(tools: Tools, room: Room, from: number): AsyncGenerator<Event, void> {
  yield waitingSkip(room.id, room.name);
  try {
    for await (const { events } of readRoom(tools, room, from)) yield* events;
    yield { t: "listed", container: roomRef(room.id), from };
  } catch (error) {
    if (refusalOf(error) === undefined) await tools.failures.requireOfOne(error);
    else yield await roomNotRead(tools, room, error);
  }
}

/** Threads of a channel that began from a time on, the newest first; `latest` goes on where an attempt has ended. */
async function* readRoom(
  tools: Tools,
  room: Room,
  from: number,
  before?: string,
): AsyncGenerator<{ events: Event[]; count: number; latest?: string }, void> {
  const { ctx, client } = tools;
  let unread = 0;
  for (let latest = before; ;) {
    const { messages, has_more: hasMore } = await client.history(room.id, { oldest: stampOf(from), latest });
    unread += messages.nameless;
    const { items, said } = await readThreads(tools, room, messages.known.filter(isRoot));
    const stamps = [...messages.known.map(({ ts }) => ts), ...messages.odd];
    const last = stamps.sort((a, b) => Number(b) - Number(a)).at(-1);
    if (hasMore && (last === undefined || last === latest)) throw halfRead("A listing ended before its end.");
    const next = hasMore ? last : undefined;
    const events = [...(await tellItems(ctx.stored, items)), ...said, ...(await tellOdd(tools, room, messages.odd))];
    yield { events, count: items.length, ...(next !== undefined && { latest: next }) };
    if (next === undefined) break;
    latest = next;
  }
  if (unread > 0) throw halfRead("kb doesn't understand all messages of the channel.");
}

/** A channel that is refused, or fails, alone. @throws what is about more than the channel */
async function roomNotRead(tools: Tools, { id, name }: Room, error: unknown): Promise<Event> {
  const message = `${name} can't be read now.`;
  const event = await notRead(tools, { container: roomRef(id), externalId: id, message }, error);
  // The next run reads it whole.
  tools.ctx.state.put(`channel:${id}`, undefined);
  return event;
}

/** Channels that the config names. */
function* tellMissing(names: readonly string[]): Generator<Event, void> {
  for (const name of names) yield failedSkip(name, `The app does not see ${name}. Type /invite @kb there.`);
}

/** A channel that was listed and isn't understood: it stays as it is. */
function oddRoom({ state }: Pick<Context, "state">, id: string): Event {
  state.put(`channel:${id}`, undefined);
  return failedSkip(id, NOT_UNDERSTOOD);
}
