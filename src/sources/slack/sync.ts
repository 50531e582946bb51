import { z } from "zod";
import { ApiError, isApiError } from "#api/errors.ts";
import type { SourceItem, SyncContext, SyncEvent, SyncRequest, What } from "#sources/contract.ts";
import { failedSkip, failedStatus, refusalOf } from "#sources/failures.ts";
import { windowStart } from "#sources/chat/config.ts";
import { isRoomInScope, roomRef } from "#sources/chat/rooms.ts";
import { makeClient, type SlackClient, type SlackMessage } from "./client.ts";
import { readChannels } from "./channels.ts";
import type { SlackConfig } from "./config.ts";
import {
  isRoot,
  type KnownUser,
  type Mapping,
  parseId,
  type Room,
  stampOf,
  threadId,
  toItems,
  usersIn,
} from "./map.ts";
import { learnUsers } from "./users.ts";

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

interface Tools extends Mapping {
  ctx: Context;
  client: SlackClient;
  users: Map<string, KnownUser>;
  run: SyncRequest<SlackCursor>;
  start: number;
}

const DAY_MS = 86_400_000;
/** What is older is not read again by increments: an edit does not change the time of a message, and no feed tells it. */
const READ_AGAIN_MS = 7 * DAY_MS;

export async function* syncChannels(ctx: Context, run: SyncRequest<SlackCursor>): AsyncGenerator<Event, void> {
  const client = makeClient(ctx);
  const { team_id: team, url } = await client.whoAmI();
  const home = (url ?? "https://app.slack.com").replace(/\/+$/, "");
  const start = windowStart(ctx.config, ctx.now());
  const tools: Tools = { ctx, client, team, home, users: new Map(), run, start };
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
  const { rooms, isWhole } = await readRooms(tools);
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
    } catch (error) {
      yield notRead(ctx, room, error);
      notLookedAt.push(room.id);
    }
    after = room.id;
    yield { t: "checkpoint", cursor: position() };
  }
  if (isWhole) ctx.state.put("channels", rooms.map(({ id }) => id).slice(0, MOST_KNOWN));
  yield { t: "checkpoint", cursor: { type: "changes", at } };
  const places = notLookedAt.map((id): What => ({ container: roomRef(id) }));
  yield {
    t: "end",
    listing: isWhole ? "complete" : "partial",
    permissions: "current",
    ...(!isWhole && { why: "Slack's list of channels was not understood. Nothing is removed." }),
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
  const { rooms, isWhole } = await readRooms(tools);
  for (const room of rooms) {
    if (own && room.id <= own.after) continue;
    // What is new, or is called otherwise, is read whole.
    const isKnown = (await ctx.state.get(`channel:${room.id}`)) === room.name;
    const from = isKnown ? recent : start;
    try {
      for await (const { events } of readRoom(tools, room, from)) yield* events;
      yield { t: "listed", container: roomRef(room.id), ...(isKnown && { from }) };
      ctx.state.put(`channel:${room.id}`, room.name);
    } catch (error) {
      yield notRead(ctx, room, error);
    }
    yield { t: "checkpoint", cursor: { type: "changes", at: before, run: { runId, at, after: room.id } } };
  }
  if (isWhole) {
    const here = new Set(rooms.map(({ id }) => id));
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

async function readRooms({ ctx, client, run }: Tools): ReturnType<typeof readChannels> {
  const { rooms, isWhole } = await readChannels(ctx, client);
  return { rooms: rooms.filter(({ id }) => isRoomInScope(run.scope, id)), isWhole };
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
  let failures = 0;
  for (let latest = before; ;) {
    const { messages, has_more: hasMore } = await client.history(room.id, { oldest: stampOf(from), latest });
    unread += messages.unread;
    const items: SourceItem[] = [];
    const failed: Event[] = [];
    for (const message of messages.known) {
      ctx.signal.throwIfAborted();
      if (!isRoot(message)) continue;
      try {
        items.push(...(await readThread(tools, room, message)));
        failures = 0;
      } catch (error) {
        // So many in a row are no longer one thread's.
        if (failedStatus(error) === undefined || ++failures >= MOST_FAILURES) throw error;
        failed.push(failedSkip(threadId(room.id, message.ts), "The thread can't be read now."));
      }
    }
    const last = messages.known.at(-1)?.ts;
    if (hasMore && (last === undefined || last === latest)) throw halfRead("A listing ended before its end.");
    const next = hasMore ? last : undefined;
    const events = [...(await tell(ctx, items)), ...failed];
    yield { events, count: items.length, ...(next !== undefined && { latest: next }) };
    if (next === undefined) break;
    latest = next;
  }
  if (unread > 0) throw halfRead("Some messages of the channel were not understood.");
}

const MOST_FAILURES = 5;

/** What was read stays; what was not is not gone. */
function halfRead(message: string): ApiError {
  return new ApiError("source_unavailable", { message, details: { status: 200 } });
}

async function readThread(tools: Tools, room: Room, root: SlackMessage): Promise<SourceItem[]> {
  const messages = (root.reply_count ?? 0) > 0 ? await tools.client.thread(room.id, root.ts) : [root];
  return makeItems(tools, room, root.ts, messages);
}

async function makeItems(
  tools: Tools,
  room: Room,
  ts: string,
  messages: readonly SlackMessage[],
): Promise<SourceItem[]> {
  await learnUsers(tools, messages.flatMap(usersIn));
  return toItems(tools, room, ts, messages);
}

/** Only these, as they are now. */
async function* readItems(tools: Tools): AsyncGenerator<Event, void> {
  const { client, run, start } = tools;
  const rooms = new Map((await readRooms(tools)).rooms.map((room) => [room.id, room]));
  for (const externalId of run.externalIds ?? []) {
    const { channel = "", ts = "" } = parseId(externalId) ?? {};
    const room = rooms.get(channel);
    let items: SourceItem[] = [];
    try {
      const messages = room && Number(ts) * 1_000 >= start ? await client.thread(channel, ts) : [];
      if (room && messages.some((message) => isRoot(message) || message.thread_ts === ts)) {
        items = await makeItems(tools, room, ts, messages);
      }
    } catch (error) {
      if (!isApiError(error, "source_not_found")) throw error;
    }
    const item = items.find((each) => each.externalId === externalId);
    yield item ? { t: "upsert", item } : { t: "delete", externalId };
  }
  yield { t: "end", listing: "partial", permissions: "not_checked" };
}

/** Ids of one `seen` event at most. */
const SEEN_IDS = 500;

/** Items that are stored as they are here are only named. */
async function tell(ctx: Context, items: readonly SourceItem[]): Promise<Event[]> {
  const events: Event[] = [];
  let same: string[] = [];
  for (const item of items) {
    const isSame = item.version !== undefined && (await ctx.stored.version(item.externalId)) === item.version;
    if (!isSame) events.push({ t: "upsert", item });
    else if (same.push(item.externalId) >= SEEN_IDS) {
      events.push({ t: "seen", externalIds: same });
      same = [];
    }
  }
  return same.length > 0 ? [...events, { t: "seen", externalIds: same }] : events;
}

/** A channel that is refused, or fails, alone. @throws what is about more than the channel */
function notRead(ctx: Context, { id, name }: Room, error: unknown): Event {
  const code = refusalOf(error);
  if (code === undefined && failedStatus(error) === undefined) throw error;
  // The next run reads it whole.
  ctx.state.put(`channel:${id}`, undefined);
  if (code !== undefined) return { t: "refused", what: { container: roomRef(id) }, code };
  return failedSkip(id, `${name} can't be read now.`);
}
