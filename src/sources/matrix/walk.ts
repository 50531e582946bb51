import { z } from "zod";
import type { MatrixClient } from "./client.ts";
import { isForMembers, type MatrixEvent, relationOf, type Visibility, visibilityOf } from "./events.ts";
import type { Thread } from "./map.ts";
import type { RoomFacts } from "./rooms.ts";

/** Position of a walk through a room's history. */
export const WalkPosition = z.object({
  token: z.string(),
  /** The history visibility before the token. */
  visibility: z.enum(["world_readable", "shared", "invited", "joined", "unsure"]),
  isRestricted: z.boolean(),
});
export type WalkPosition = z.infer<typeof WalkPosition>;

/** The threads that one page of history completes. */
export interface WalkStep {
  threads: readonly Thread[];
  /** Ids of events on the page that could not be parsed, and the number of events without an id. */
  odd: readonly string[];
  nameless: number;
  /** The next position. Absent at the end of the history. */
  next?: WalkPosition;
  isRestricted: boolean;
}

export interface WalkOptions {
  client: MatrixClient;
  room: Pick<RoomFacts, "id">;
  from: WalkPosition;
  /** The time before which messages aren't read. */
  start: number;
  /** True = an earlier attempt has read the events before the token, so their replies aren't known here. */
  isResumed: boolean;
}

type ThreadOptions = Pick<WalkOptions, "client" | "room" | "start">;

/**
 * Reads a room's history within the time window, backwards from a fixed point. Replies come before their root, so a
 * thread is complete when its root comes. Messages that were written while not every member could read them are left
 * out.
 */
export async function* walkRoom(options: WalkOptions): AsyncGenerator<WalkStep, void> {
  const { client, room, from, start, isResumed } = options;
  const replies = new Map<string, MatrixEvent[]>();
  let { visibility, isRestricted } = from;

  for await (const page of client.messages(room.id, from.token)) {
    const threads: Thread[] = [];
    let isPastStart = page.events.length > 0;
    for (const event of page.events) {
      if (event.at >= start) isPastStart = false;
      if (event.type === "m.room.history_visibility") {
        visibility = visibilityBefore(event);
        isRestricted ||= !isForMembers(visibility);
      } else if (event.type === "m.room.message") {
        const thread = await take(event);
        if (thread) threads.push(thread);
      }
    }
    const token = isPastStart ? undefined : page.next;
    if (token === undefined) {
      for (const rootId of replies.keys()) threads.push(...(await rootOutside(rootId)));
    }
    const { odd, nameless } = page;
    yield {
      threads,
      odd,
      nameless,
      isRestricted,
      ...(token !== undefined && { next: { token, visibility, isRestricted } }),
    };
    if (token === undefined) return;
  }

  async function take(event: MatrixEvent): Promise<Thread | undefined> {
    const { thread: rootId, replaces } = relationOf(event);
    if (replaces !== undefined) return undefined;
    const isShown = !event.isRedacted && (await isVisible(event));
    if (rootId !== undefined) {
      if (isShown && event.at >= start) replies.set(rootId, [event, ...(replies.get(rootId) ?? [])]);
      return undefined;
    }
    const found = await repliesOf(event);
    const root = isShown && (event.at >= start || found.length > 0) ? event : undefined;
    return root || found.length > 0 ? { rootId: event.id, root, replies: found } : undefined;
  }

  async function repliesOf({ id, threadCount = 0 }: MatrixEvent): Promise<readonly MatrixEvent[]> {
    const found = replies.get(id) ?? [];
    replies.delete(id);
    return isResumed && threadCount > found.length ? readReplies(options, id, isRestricted) : found;
  }

  async function isVisible({ id }: MatrixEvent): Promise<boolean> {
    return isForMembers(visibility) || (visibility === "unsure" && (await isVisibleThen(client, room.id, id)));
  }

  /**
   * Handles a thread whose root is older than the time window or isn't a message: its visibility at that time has to be
   * requested.
   */
  async function rootOutside(rootId: string): Promise<Thread[]> {
    const found = await client.eventInContext(room.id, rootId);
    if (!found) return [];
    const root = isMessage(found.event) && isForMembers(found.visibility) ? found.event : undefined;
    const known = isResumed ? await readReplies(options, rootId, isRestricted) : (replies.get(rootId) ?? []);
    return root || known.length > 0 ? [{ rootId, root, replies: known }] : [];
  }
}

/** Reads the present state of a thread; undefined if no message of it is within the time window. */
export async function readThread(
  options: ThreadOptions,
  rootId: string,
  isRestricted: boolean,
): Promise<Thread | undefined> {
  const { client, room, start } = options;
  const event = await client.event(room.id, rootId);
  if (!event) return undefined;
  const replies = await readReplies(options, rootId, isRestricted);
  const isShown = isMessage(event) && (event.at >= start || replies.length > 0);
  // The visibility before the time window is unknown.
  const isSure = !isRestricted && event.at >= start;
  const root = isShown && (isSure || (await isVisibleThen(client, room.id, rootId))) ? event : undefined;
  return root || replies.length > 0 ? { rootId, root, replies } : undefined;
}

async function readReplies(
  { client, room, start }: ThreadOptions,
  rootId: string,
  isRestricted: boolean,
): Promise<MatrixEvent[]> {
  const found: MatrixEvent[] = [];
  for await (const { events } of client.replies(room.id, rootId)) {
    for (const event of events) {
      if (event.at < start || !isMessage(event)) continue;
      if (!isRestricted || (await isVisibleThen(client, room.id, event.id))) found.push(event);
    }
  }
  return found;
}

async function isVisibleThen(client: MatrixClient, room: string, id: string): Promise<boolean> {
  const found = await client.eventInContext(room, id);
  return found !== undefined && isForMembers(found.visibility);
}

/** Whether an event is a message with its own content: neither an edit of another message nor deleted. */
export function isMessage(event: MatrixEvent): boolean {
  return event.type === "m.room.message" && !event.isRedacted && relationOf(event).replaces === undefined;
}

/**
 * Returns the visibility before a visibility change. If the server doesn't report it, each message has to be checked.
 */
function visibilityBefore({ before }: MatrixEvent): Visibility {
  return before === "unknown" ? "unsure" : visibilityOf(before);
}
