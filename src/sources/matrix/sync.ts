import { z } from "zod";
import type { SyncRequest, What } from "#sources/contract.ts";
import { makeFailures } from "#sources/failures.ts";
import { halfRead } from "#sources/listed.ts";
import { tellItems } from "#sources/seen.ts";
import { makeWaits, waitingSkip } from "#sources/waits.ts";
import { windowStart } from "#sources/chat/config.ts";
import { isRoomInScope, roomRef } from "#sources/chat/rooms.ts";
import { type JoinedRoom, makeClient, FACTS } from "./client.ts";
import { readItems } from "./items.ts";
import { toEncryptedItem, toItems } from "./map.ts";
import {
  isRead,
  keepRoom,
  knownRoom,
  makeNames,
  noteRead,
  type RoomFacts,
  roomsOf,
  serverOf,
  unreadRooms,
} from "./rooms.ts";
import { type Context, type Event as AnyEvent, oddEvents, oddRoom, roomNotRead, type Tools } from "./tell.ts";
import { readTimeline } from "./timeline.ts";
import { walkRoom, WalkPosition } from "./walk.ts";

/** A walk through one room that is going on. */
const OpenWalk = z.object({ room: z.string(), at: WalkPosition });
type OpenWalk = z.infer<typeof OpenWalk>;

const MatrixCursor = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("listing"),
    runId: z.string().nullable(),
    since: z.string(),
    /** Every room up to this one was read. */
    after: z.string(),
    walk: OpenWalk.optional(),
    done: z.number(),
    notLookedAt: z.array(z.string()),
  }),
  z.object({
    type: z.literal("changes"),
    since: z.string(),
    /** Rooms that this run reads again: every one up to `after` was, and the walk goes on. */
    again: z.object({ runId: z.string().nullable(), after: z.string(), walk: OpenWalk.optional() }).optional(),
  }),
]);
export type MatrixCursor = z.infer<typeof MatrixCursor>;

type Event = AnyEvent<MatrixCursor>;

export async function* syncRooms(ctx: Context, run: SyncRequest<MatrixCursor>): AsyncGenerator<Event, void> {
  const client = makeClient(ctx);
  const me = (await client.whoAmI()).user_id;
  const start = windowStart(ctx.config, ctx.now());
  const failures = makeFailures(() => client.whoAmI());
  const tools: Tools = {
    ctx,
    client,
    server: serverOf(me),
    names: makeNames(client),
    start,
    run,
    failures,
    waits: makeWaits(ctx),
  };
  const cursor = MatrixCursor.safeParse(run.cursor).data;
  if (run.mode === "items") yield* readItems(tools);
  else if (run.mode === "incremental" && cursor?.type === "changes") yield* readChanges(tools, cursor);
  else yield* listAll(tools, cursor);
}

/** Every room by its id, each backwards from one point in time: what comes later is in the changes since. */
async function* listAll(tools: Tools, cursor: MatrixCursor | undefined): AsyncGenerator<Event, void> {
  const { ctx, client, run } = tools;
  const runId = run.runId ?? null;
  // Only an attempt of the same run goes on: the listing of another named what may be gone by now.
  const former = cursor?.type === "listing" && runId !== null && cursor.runId === runId ? cursor : undefined;
  const { since: latest, rooms, odd } = roomsOf(await client.rooms(), ctx.config);
  const since = former?.since ?? latest;
  const notLookedAt = [...(former?.notLookedAt ?? [])];
  let { after, done } = { after: former?.after ?? "", done: former?.done ?? 0 };
  const position = (walk?: OpenWalk): MatrixCursor => ({
    type: "listing",
    runId,
    since,
    after,
    done,
    notLookedAt: [...notLookedAt],
    ...(walk && { walk }),
  });
  for (const id of odd) {
    yield await oddRoom(ctx, id);
    if (!notLookedAt.includes(id)) notLookedAt.push(id);
  }
  for (const room of rooms) {
    if (room.id <= after || !isRoomInScope(run.scope, room.id)) continue;
    const resumed = former?.walk?.room === room.id ? former.walk.at : undefined;
    try {
      for await (const { events, count, at } of readRoom(tools, room, since, resumed)) {
        yield* events;
        done += count;
        yield { t: "progress", done };
        if (at) yield { t: "checkpoint", cursor: position({ room: room.id, at }) };
      }
    } catch (error) {
      yield await roomNotRead(tools, room, error);
      notLookedAt.push(room.id);
    }
    after = room.id;
    yield { t: "checkpoint", cursor: position() };
  }
  yield { t: "checkpoint", cursor: { type: "changes", since } };
  const places = notLookedAt.map((id): What => ({ container: roomRef(id) }));
  yield {
    t: "end",
    listing: "complete",
    permissions: "current",
    ...(places.length > 0 && { notLookedAt: places }),
  };
}

/**
 * What changed since. Who may read a room is told apart, and no message moves from one to another: so the feed shows every
 * change of a permission.
 */
async function* readChanges(
  tools: Tools,
  { since, again }: Extract<MatrixCursor, { type: "changes" }>,
): AsyncGenerator<Event, void> {
  const { ctx, client, run } = tools;
  const runId = run.runId ?? null;
  const changes = await client.changes(since);
  // Whatever was said there since: not all of what was said before was read.
  const toRead = (await unreadRooms(ctx)).filter((id) => isRoomInScope(run.scope, id));
  for (const [id, room] of Object.entries(changes.rooms.join).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!isRoomInScope(run.scope, id) || toRead.includes(id)) continue;
    const known = await knownRoom(ctx, id);
    // Where a gap begins isn't told: what is in it is found by reading everything.
    const isBroken = room.timeline.isCut && room.timeline.before === undefined;
    if (!known || isBroken || isOther(room)) toRead.push(id);
    else if (isRead(known, ctx.config)) {
      try {
        const isWhole = yield* readTimeline(tools, known, room, since);
        if (!isWhole) await noteRead(ctx, id, false);
      } catch (error) {
        yield await roomNotRead(tools, known, error);
      }
    }
  }
  for (const id of changes.rooms.odd) yield await oddRoom(ctx, id);
  for (const id of Object.keys(changes.rooms.leave)) {
    keepRoom(ctx, id);
    yield { t: "delete_container", ...roomRef(id) };
  }
  const former = again && again.runId === runId ? again : undefined;
  const ready: string[] = [];
  for (const id of toRead) {
    if (await tools.waits.isWaiting(id)) yield waitingSkip(id, "A room");
    else ready.push(id);
  }
  if (ready.length > 0) yield* readAgain(tools, ready, since, former);
  yield { t: "checkpoint", cursor: { type: "changes", since: changes.next_batch } };
  yield { t: "end", listing: "partial", permissions: "current" };
}

/** Rooms that are new, or are called otherwise: whole, and what is not in them any more goes. */
async function* readAgain(
  tools: Tools,
  ids: readonly string[],
  since: string,
  former: { after: string; walk?: OpenWalk | undefined } | undefined,
): AsyncGenerator<Event, void> {
  const { ctx, client, run } = tools;
  const runId = run.runId ?? null;
  const { since: latest, rooms, odd } = roomsOf(await client.rooms(ids), ctx.config);
  for (const id of odd) yield await oddRoom(ctx, id);
  let after = former?.after ?? "";
  const position = (walk?: OpenWalk): MatrixCursor => ({
    type: "changes",
    since,
    again: { runId, after, ...(walk && { walk }) },
  });
  for (const room of rooms) {
    if (room.id <= after) continue;
    try {
      const resumed = former?.walk?.room === room.id ? former.walk.at : undefined;
      for await (const { events, at } of readRoom(tools, room, latest, resumed)) {
        yield* events;
        if (at) yield { t: "checkpoint", cursor: position({ room: room.id, at }) };
      }
      yield { t: "listed", container: roomRef(room.id) };
    } catch (error) {
      yield await roomNotRead(tools, room, error);
    }
    after = room.id;
    yield { t: "checkpoint", cursor: position() };
  }
  // What is not read any more, such as a room that has become a direct message.
  const read = new Set([...rooms.map(({ id }) => id), ...odd]);
  for (const id of ids) if (!read.has(id)) yield { t: "delete_container", ...roomRef(id) };
}

/** A room from a point on backwards; what is known of it is kept at its end. */
async function* readRoom(
  tools: Tools,
  room: RoomFacts,
  since: string,
  resumed: WalkPosition | undefined,
): AsyncGenerator<{ events: Event[]; count: number; at?: WalkPosition }, void> {
  const { ctx, client, start } = tools;
  const from = resumed ?? { token: since, visibility: room.visibility, isRestricted: room.isRestricted };
  const nameOf = await tools.names(room.id);
  let isRestricted = from.isRestricted;
  let nameless = 0;
  if (room.isEncrypted && !resumed)
    yield { events: await tellItems(ctx.stored, [toEncryptedItem(tools, room)]), count: 1 };
  for await (const step of walkRoom({ client, room, from, start, isResumed: resumed !== undefined })) {
    ctx.signal.throwIfAborted();
    const items = step.threads.flatMap((thread) => toItems(tools, room, thread, nameOf));
    ({ isRestricted } = step);
    nameless += step.nameless;
    const events = [...(await tellItems(ctx.stored, items)), ...oddEvents(room, step.odd)];
    yield { events, count: items.length, ...(step.next && { at: step.next }) };
  }
  if (nameless > 0) throw halfRead(`kb doesn't understand all messages of ${room.name}.`);
  keepRoom(ctx, room.id, { ...room, isRestricted });
  await noteRead(ctx, room.id, true);
  await tools.waits.done(room.id);
  if (!isRestricted) return;
  const message = `${room.name}: members can read only what was written after they joined or were invited. kb leaves that out.`;
  const externalId = `${room.id}/history`;
  yield { events: [{ t: "skip", externalId, reason: "excluded_by_policy", message, retryable: false }], count: 0 };
}

/** What a room is called, or who may read it, is not as it was; or it is new. */
function isOther({ state, timeline }: JoinedRoom): boolean {
  return [...state.events, ...timeline.events].some(
    ({ type, stateKey }) => stateKey !== undefined && FACTS.some((fact) => fact === type),
  );
}
