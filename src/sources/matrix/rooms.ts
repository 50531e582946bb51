import { z } from "zod";
import type { SourceContext, SyncContext } from "#sources/context.ts";
import type { Failures } from "#sources/failures.ts";
import type { MatrixConfig } from "./config.ts";
import type { JoinedRoom, MatrixClient, MatrixSync } from "./client.ts";
import { isForMembers, visibilityOf } from "./events.ts";

/**
 * The facts about a room that a run needs. They are stored between runs, so that an increment doesn't request state.
 */
export const RoomFacts = z.object({
  id: z.string(),
  name: z.string(),
  isSpace: z.boolean(),
  isDirect: z.boolean(),
  isEncrypted: z.boolean(),
  visibility: z.enum(["world_readable", "shared", "invited", "joined", "unsure"]),
  /** True = at some time within the history, some members of the room could not read everything. */
  isRestricted: z.boolean(),
});
export type RoomFacts = z.infer<typeof RoomFacts>;

/**
 * Returns the rooms of a response that are to be read, by id, and the token from which changes are read. `odd` are the
 * ids of rooms that could not be parsed: their items stay unchanged.
 */
export function roomsOf(sync: MatrixSync, config: MatrixConfig): { since: string; rooms: RoomFacts[]; odd: string[] } {
  const direct = new Set(
    sync.account_data.events
      .filter(({ type }) => type === "m.direct")
      .flatMap(({ content }) => Object.values(content).flat()),
  );
  const rooms = Object.entries(sync.rooms.join)
    .map(([id, room]) => factsOf(id, room, direct.has(id)))
    .filter((facts) => isRead(facts, config))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  return { since: sync.next_batch, rooms, odd: sync.rooms.odd };
}

/** Whether a room is read. A space contains only rooms and no messages. */
export function isRead({ isSpace, isDirect }: RoomFacts, { directMessages }: MatrixConfig): boolean {
  return !isSpace && (directMessages || !isDirect);
}

function factsOf(id: string, { state, timeline, summary }: JoinedRoom, isMarkedDirect: boolean): RoomFacts {
  const now = new Map<string, Readonly<Record<string, unknown>>>();
  for (const { type, stateKey, content } of [...state.events, ...timeline.events])
    if (stateKey === "") now.set(type, content);
  const text = (type: string, key: string) => {
    const value = now.get(type)?.[key];
    return typeof value === "string" && value.trim() !== "" ? value.replace(/[\p{Cc}\s]+/gu, " ").trim() : undefined;
  };
  const name = text("m.room.name", "name") ?? text("m.room.canonical_alias", "alias");
  const people = (summary["m.joined_member_count"] ?? 3) + (summary["m.invited_member_count"] ?? 0);
  const visibility = visibilityOf(now.get("m.room.history_visibility"));
  return {
    id,
    name: name ?? (people <= 2 ? "Direct message" : "Unnamed room"),
    isSpace: now.get("m.room.create")?.["type"] === "m.space",
    isDirect: isMarkedDirect || (name === undefined && people <= 2),
    isEncrypted: now.has("m.room.encryption"),
    visibility,
    isRestricted: !isForMembers(visibility),
  };
}

/** Returns the stored facts of a room. */
export async function knownRoom({ state }: Pick<SyncContext<MatrixConfig>, "state">, id: string) {
  return RoomFacts.safeParse(await state.get(`room:${id}`)).data;
}

export function keepRoom({ state }: Pick<SyncContext<MatrixConfig>, "state">, id: string, facts?: RoomFacts): void {
  state.put(`room:${id}`, facts);
}

const UNREAD = "unread";
/** The most ids that fit into one value of the state; a full run reads the rest. */
const MOST_UNREAD = 800;

/** Rooms that could not be read. The next run reads them in full, even if they have no new messages. */
export async function unreadRooms({ state }: Pick<SyncContext<MatrixConfig>, "state">): Promise<string[]> {
  return z.array(z.string()).safeParse(await state.get(UNREAD)).data ?? [];
}

/** Records whether a room could be read. */
export async function noteRead(
  ctx: Pick<SyncContext<MatrixConfig>, "state">,
  id: string,
  isRead: boolean,
): Promise<void> {
  const before = await unreadRooms(ctx);
  if (before.includes(id) !== isRead) return;
  const others = before.filter((each) => each !== id);
  const now = isRead ? others : [...others, id].slice(-MOST_UNREAD);
  ctx.state.put(UNREAD, now.length > 0 ? now : undefined);
}

/** Returns names of people in a room. Each room is requested once. */
export type Names = (room: string) => Promise<(userId: string) => string>;

/**
 * Makes a lookup of people's names in rooms. A person who left has no name in the room and is shown by id. If the
 * server fails to return a room's members, all of its people are shown by id: no message is left out because of a
 * missing name.
 */
export function makeNames(client: MatrixClient, failures: Pick<Failures, "requireOfOne">): Names {
  const membersOf = async (room: string): ReturnType<MatrixClient["members"]> => {
    try {
      return await client.members(room);
    } catch (error) {
      await failures.requireOfOne(error);
      return {};
    }
  };
  const asked = new Map<string, Promise<(userId: string) => string>>();
  return (room) => {
    const known = asked.get(room);
    if (known) return known;
    const names = membersOf(room).then((members) => (userId: string) => {
      const name = Object.hasOwn(members, userId) ? members[userId]?.display_name?.trim() : undefined;
      return name ? name : localPart(userId);
    });
    asked.set(room, names);
    return names;
  };
}

/** Returns the local part of a user id: `anna` of `@anna:example.com`. */
export function localPart(userId: string): string {
  const part = userId.slice(1, userId.indexOf(":"));
  return part === "" ? userId : part;
}

/** Returns the server of a user id: `example.com` of `@anna:example.com`. */
export function serverOf(userId: string): string {
  return userId.slice(userId.indexOf(":") + 1);
}

export type MatrixContext = SourceContext<MatrixConfig>;
