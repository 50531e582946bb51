import { isNamedIn } from "#sources/in-scope.ts";
import { leftOut } from "#sources/failures.ts";
import { z } from "zod";
import { type ContainerEvent, placeSchema } from "#sources/containers.ts";
import { halfRead } from "#sources/listed.ts";
import { entryOf, type SessionSpec, type WalkEnd, type WalkEvent, type WalkRequest } from "#sources/session.ts";
import { roomRef } from "#sources/chat/rooms.ts";
import { FACTS, type JoinedRoom } from "./client.ts";
import type { MatrixConfig } from "./config.ts";
import { readItems } from "./items.ts";
import { toEncryptedItem, toItems } from "./map.ts";
import { isRead, keepRoom, knownRoom, noteRead, type RoomFacts, roomsOf, unreadRooms } from "./rooms.ts";
import { readTimeline } from "./timeline.ts";
import { makeTools, oddEvents, type Tools } from "./tools.ts";
import { walkRoom, WalkPosition } from "./walk.ts";

const Cursor = z.object({ since: z.string() });
type Cursor = z.infer<typeof Cursor>;

const Checkpoint = placeSchema(WalkPosition, Cursor);
type Checkpoint = z.infer<typeof Checkpoint>;

export const matrixSessions: SessionSpec<MatrixConfig, Cursor, Checkpoint> = {
  cursor: Cursor,
  checkpoint: Checkpoint,
  async open(ctx, run) {
    const tools = await makeTools(ctx, run);
    return {
      walk: (request) => (request.since ? readChanges(tools, request.since.since, request) : listAll(tools, request)),
      read: (ids) => readItems(tools, ids),
    };
  },
};

type Walk = AsyncGenerator<WalkEvent<Checkpoint>, WalkEnd<Cursor>>;

/**
 * Reads every room by its id, backwards from one point in time. Later events are among the changes since that point.
 */
async function* listAll(tools: Tools, { resume }: WalkRequest<Cursor, Checkpoint>): Walk {
  const { ctx, client, scope } = tools;
  const { since, rooms, odd } = roomsOf(await client.rooms(), ctx.config);
  const place = resume ?? { feed: { since }, after: "" };
  yield* tools.rooms.odd({ odd });
  const wanted = rooms.filter(({ id }) => isNamedIn(scope, id));
  yield* tools.rooms.walk(wanted, place, (room, at) => readRoom(tools, room, place.feed.since, at));
  return { complete: true, cursor: place.feed, permissions: "current" };
}

/**
 * Reads the changes since the last run. Readers of a room are reported separately, and no message moves from one room
 * to another, so the feed shows every permission change.
 */
async function* readChanges(tools: Tools, since: string, { resume }: WalkRequest<Cursor, Checkpoint>): Walk {
  const { ctx, client, scope, rooms } = tools;
  const changes = await client.changes(since);
  const place = resume ?? { feed: { since: changes.next_batch }, after: "" };
  // These rooms are read even without new messages, because not all earlier messages were read.
  const toRead = (await unreadRooms(ctx)).filter((id) => isNamedIn(scope, id));
  for (const [id, room] of Object.entries(changes.rooms.join).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!isNamedIn(scope, id) || toRead.includes(id)) continue;
    const known = await knownRoom(ctx, id);
    // The server doesn't report the beginning of the gap. Reading everything finds the missing events.
    const isBroken = room.timeline.isCut && room.timeline.before === undefined;
    if (!known || isBroken || isOther(room)) toRead.push(id);
    else if (isRead(known, ctx.config)) {
      try {
        const isWhole = yield* readTimeline(tools, known, room, since);
        if (!isWhole) await noteRead(ctx, id, false);
      } catch (error) {
        yield await rooms.notRead(known, error);
      }
    }
  }
  yield* rooms.odd(changes.rooms);
  for (const id of Object.keys(changes.rooms.leave)) {
    keepRoom(ctx, id);
    yield { t: "delete_container", ...roomRef(id) };
  }
  const ready: string[] = [];
  for (const id of toRead) {
    if (await rooms.isWaiting({ id })) yield rooms.waiting(id, "A room");
    else ready.push(id);
  }
  if (ready.length > 0) yield* readAgain(tools, ready, place);
  return { complete: false, cursor: place.feed, permissions: "current" };
}

/** Reads new or renamed rooms in full, and removes items that no longer exist in them. */
async function* readAgain(
  tools: Tools,
  ids: readonly string[],
  place: Checkpoint,
): AsyncGenerator<WalkEvent<Checkpoint>, void> {
  const { ctx, client } = tools;
  const { since, rooms, odd } = roomsOf(await client.rooms(ids), ctx.config);
  yield* tools.rooms.odd({ odd });
  yield* tools.rooms.walk(rooms, place, async function* (room, at) {
    yield* readRoom(tools, room, since, at);
    yield { t: "listed", container: roomRef(room.id) };
  });
  // These rooms are no longer read, for example because a room has become a direct message.
  const read = new Set([...rooms.map(({ id }) => id), ...odd]);
  for (const id of ids) if (!read.has(id)) yield { t: "delete_container", ...roomRef(id) };
}

/** Reads a room backwards from a point. The room's facts are stored at the end. */
async function* readRoom(
  tools: Tools,
  room: RoomFacts,
  since: string,
  resumed: WalkPosition | undefined,
): AsyncGenerator<ContainerEvent<WalkPosition>, void> {
  const { ctx, client, start } = tools;
  const from = resumed ?? { token: since, visibility: room.visibility, isRestricted: room.isRestricted };
  const nameOf = await tools.names(room.id);
  let isRestricted = from.isRestricted;
  let nameless = 0;
  if (room.isEncrypted && !resumed) yield { t: "page", entries: [entryOf(toEncryptedItem(tools, room))] };
  for await (const step of walkRoom({ client, room, from, start, isResumed: resumed !== undefined })) {
    ctx.signal.throwIfAborted();
    const items = step.threads.flatMap((thread) => toItems(tools, room, thread, nameOf));
    ({ isRestricted } = step);
    nameless += step.nameless;
    yield { t: "page", entries: [...items.map(entryOf), ...oddEvents(room, step.odd)], at: step.next };
  }
  if (nameless > 0) throw halfRead(`kb doesn't understand all messages of ${room.name}.`);
  keepRoom(ctx, room.id, { ...room, isRestricted });
  await noteRead(ctx, room.id, true);
  await tools.rooms.isRead(room);
  if (!isRestricted) return;
  const message = `${room.name}: members can read only what was written after they joined or were invited. kb leaves that out.`;
  const externalId = `${room.id}/history`;
  yield leftOut(externalId, "excluded_by_policy", message);
}

/** Whether the room's name or readers have changed, or the room is new. */
function isOther({ state, timeline }: JoinedRoom): boolean {
  return [...state.events, ...timeline.events].some(
    ({ type, stateKey }) => stateKey !== undefined && FACTS.some((fact) => fact === type),
  );
}
