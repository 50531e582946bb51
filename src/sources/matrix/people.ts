import { z } from "zod";
import { parsePrincipal, type Principal } from "#core/principals.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";
import { readRoomGroups } from "#sources/chat/people.ts";
import { roomGroup, roomOfGroup } from "#sources/chat/rooms.ts";
import { type Failures, makeFailures } from "#sources/failures.ts";
import { groupPages } from "#sources/group-pages.ts";
import { makeClient, type MatrixClient } from "./client.ts";
import { isUserId } from "./events.ts";
import { userPrincipal } from "./map.ts";
import { localPart, type MatrixContext, type RoomFacts, roomsOf, serverOf } from "./rooms.ts";

/** `since` is the position in the feed up to which everything was reported. */
const PeopleCursor = z.object({ since: z.string() });
export type PeopleCursor = z.infer<typeof PeopleCursor>;

type Event = IdentityEvent<PeopleCursor>;

/** The most rooms that a run of mode `changes` reads because they have not been read for a long time. */
const MOST_DUE = 200;

/**
 * Reports the members of each room: those who joined and have not left, been kicked or been banned since. A room in
 * which a membership changed is read in full, since a federation may later decide that a member never left.
 */
export async function* syncMatrixPeople(
  ctx: MatrixContext,
  { mode, groups = [], cursor, due }: IdentityRun,
): AsyncGenerator<Event, void> {
  const client = makeClient(ctx);
  const reported = new Set<string>();
  const failures = makeFailures(() => client.whoAmI());
  const reader = { ctx, client, server: serverOf((await client.whoAmI()).user_id), reported, failures };
  const since = PeopleCursor.safeParse(cursor).data?.since;
  if (mode === "groups") {
    const ids = roomsIn(groups);
    const { rooms, odd } = roomsOf(await client.rooms(ids), ctx.config);
    yield* readGroups(reader, rooms);
    const here = new Set([...rooms.map(({ id }) => id), ...odd]);
    for (const id of ids) if (!here.has(id)) yield nobody(ctx, id);
    yield { t: "end", listing: "partial" };
  } else if (mode === "changes" && since !== undefined) {
    yield* readChanges(reader, since, due);
  } else yield* readAll(reader);
}

interface Reader {
  ctx: MatrixContext;
  client: MatrixClient;
  server: string;
  /** The users that this run has reported. */
  reported: Set<string>;
  failures: Failures;
}

async function* readAll(reader: Reader): AsyncGenerator<Event, void> {
  const { ctx, client } = reader;
  // Changes during the read are among the changes since that point.
  const { since, rooms, odd } = roomsOf(await client.rooms(), ctx.config);
  const notLookedAt = [...(yield* readGroups(reader, rooms)), ...groupsOf(ctx, odd)];
  yield { t: "checkpoint", cursor: { since } };
  yield { t: "end", listing: "complete", ...(notLookedAt.length > 0 && { notLookedAt }) };
}

/** Reads the groups of rooms. Returns the groups of those rooms whose members the server doesn't report. */
function readGroups(reader: Reader, rooms: readonly RoomFacts[]): AsyncGenerator<Event, Principal[]> {
  return readRoomGroups(rooms, reader.failures, {
    groupOf: (id) => roomGroup(reader.ctx.connector.id, id),
    read: ({ id, visibility }) => readGroup(reader, id, visibility === "world_readable"),
  });
}

async function* readChanges(reader: Reader, since: string, due: IdentityRun["due"]): AsyncGenerator<Event, void> {
  const { ctx, client } = reader;
  const changes = await client.memberChanges(since);
  for (const id of Object.keys(changes.rooms.leave)) yield nobody(ctx, id);
  const changed = new Set(
    Object.entries(changes.rooms.join).flatMap(([id, { state, timeline }]) =>
      state.events.length + timeline.events.length > 0 ? [id] : [],
    ),
  );
  for await (const group of due(MOST_DUE)) for (const room of roomsIn([group])) changed.add(room);
  // Rooms that aren't read have no group.
  for (const id of changes.rooms.odd) changed.add(id);
  const nothing = { rooms: [], odd: [] };
  const { rooms, odd } = changed.size > 0 ? roomsOf(await client.rooms([...changed]), ctx.config) : nothing;
  const notLookedAt = [...(yield* readGroups(reader, rooms)), ...groupsOf(ctx, odd)];
  const read = new Set([...rooms.map(({ id }) => id), ...odd]);
  for (const id of changed) if (!read.has(id)) yield nobody(ctx, id);
  yield { t: "checkpoint", cursor: { since: changes.next_batch } };
  yield { t: "end", listing: "complete", ...(notLookedAt.length > 0 && { notLookedAt }) };
}

/**
 * Reports the present members of a room, and their identities. `mayBeOpen` = everyone with an account may read the
 * room, and perhaps people without an account too.
 */
async function* readGroup(
  { ctx, client, server, reported }: Reader,
  room: string,
  mayBeOpen: boolean,
): AsyncGenerator<Event, void> {
  const group = roomGroup(ctx.connector.id, room);
  const joined = Object.entries(await client.members(room)).filter(([id]) => isUserId(id));
  const isOpen = mayBeOpen && (await client.isOpen(room));
  for (const [id, { display_name: name }] of joined) {
    if (serverOf(id) !== server || reported.has(id)) continue;
    reported.add(id);
    const shown = name?.trim();
    yield {
      t: "identity",
      principal: userPrincipal(ctx, server, id),
      state: "active",
      name: shown ? shown : localPart(id),
      login: id,
    };
  }
  const members = joined.map(([id]) => userPrincipal(ctx, server, id));
  yield* groupPages(group, isOpen ? [...members, "everyone"] : members);
}

function groupsOf({ connector }: MatrixContext, rooms: readonly string[]): Principal[] {
  return rooms.map((id) => roomGroup(connector.id, id));
}

function nobody({ connector }: MatrixContext, room: string): Event {
  return { t: "group", group: roomGroup(connector.id, room), members: [] };
}

/** Returns the rooms that these groups belong to. */
function roomsIn(groups: readonly Principal[]): string[] {
  return groups.flatMap((group) => {
    const parsed = parsePrincipal(group);
    const room = parsed?.type === "source_group" ? roomOfGroup(parsed.id) : undefined;
    return room === undefined ? [] : [room];
  });
}
