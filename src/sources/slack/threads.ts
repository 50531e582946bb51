import { storedIds } from "#sources/collect.ts";
import { isNamedIn } from "#sources/in-scope.ts";
import type { Scope } from "#core/scope.ts";
import type { SyncContext } from "#sources/context.ts";
import type { SourceItem } from "#sources/item.ts";
import type { Containers } from "#sources/containers.ts";
import { roomRef } from "#sources/chat/rooms.ts";
import { type Failures, failedSkip, ifThere } from "#sources/failures.ts";
import { halfRead, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { reportSeen } from "#sources/seen.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { readChannels } from "./channels.ts";
import type { SlackClient, SlackMessage } from "./client.ts";
import type { SlackConfig } from "./config.ts";
import { isRoot, type KnownUser, type Mapping, parseId, type Room, threadId, toItems, usersIn } from "./map.ts";
import { learnUsers } from "./users.ts";

/** The dependencies of a run. */
export interface Tools extends Mapping {
  ctx: SyncContext<SlackConfig>;
  client: SlackClient;
  users: Map<string, KnownUser>;
  scope: Scope;
  start: number;
  failures: Failures;
  channels: Containers<Room>;
}

/** Lists the channels in scope. */
export async function readRooms({ ctx, client, scope }: Tools) {
  const { rooms, odd, ...rest } = await readChannels(ctx, client);
  const isIn = (id: string) => isNamedIn(scope, id);
  return { ...rest, known: rooms.filter(({ id }) => isIn(id)), odd: odd.filter(isIn) };
}

/** Reports messages that could not be parsed. Each may be the root of a thread, whose stored items stay. */
export async function reportOdd(
  { ctx }: Pick<Tools, "ctx">,
  room: Room,
  stamps: readonly string[],
): Promise<Outcome[]> {
  const events: Outcome[] = [];
  for (const ts of stamps) {
    const externalId = threadId(room.id, ts);
    events.push(failedSkip(externalId, NOT_UNDERSTOOD), ...(await keepFiles(ctx, room, externalId)));
  }
  return events;
}

/** Returns the items of these threads, and the events for threads that can't be read, or not in full. */
export async function readThreads(
  tools: Tools,
  room: Room,
  roots: readonly SlackMessage[],
): Promise<{ items: SourceItem[]; outcomes: Outcome[] }> {
  const { ctx, client, failures } = tools;
  const items: SourceItem[] = [];
  const outcomes: Outcome[] = [];
  for (const root of roots) {
    ctx.signal.throwIfAborted();
    const externalId = threadId(room.id, root.ts);
    try {
      const hasReplies = (root.reply_count ?? 0) > 0;
      const thread = hasReplies ? await client.thread(room.id, root.ts) : { messages: [root], isWhole: true };
      // Without its root, the thread would get another id.
      if (!thread.isWhole && !thread.messages.some(({ ts }) => ts === root.ts)) throw halfRead(NOT_UNDERSTOOD);
      items.push(...(await makeItems(tools, room, root.ts, thread.messages)));
      if (!isUnderstood(thread)) outcomes.push(...(await keepFiles(ctx, room, externalId)));
      failures.well();
    } catch (error) {
      const outcome = await failures.outcomeOf(externalId, error, "The thread can't be read now.");
      outcomes.push(outcome, ...(await keepFiles(ctx, room, externalId)));
    }
  }
  return { items, outcomes };
}

function isUnderstood({ messages, isWhole }: { messages: readonly SlackMessage[]; isWhole: boolean }): boolean {
  return isWhole && messages.every(({ files }) => (files?.nameless ?? 0) === 0);
}

/** Keeps the stored files of a thread that wasn't read in full. */
async function keepFiles(ctx: Tools["ctx"], room: Room, thread: string): Promise<Outcome[]> {
  return reportSeen(await storedIds(ctx, roomRef(room.id), (id) => id.startsWith(`${thread}#`)));
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

/** Reads the present state of one item; undefined if it no longer exists. */
export async function readOne(
  tools: Tools,
  { known, odd, isWhole }: Awaited<ReturnType<typeof readRooms>>,
  externalId: string,
): Promise<SourceItem | undefined> {
  const { channel = "", ts = "" } = parseId(externalId) ?? {};
  const room = known.find(({ id }) => id === channel);
  if (!room && (!isWhole || odd.includes(channel))) throw halfRead(NOT_UNDERSTOOD);
  if (!room || Number(ts) * 1_000 < tools.start) return undefined;
  const thread = (await ifThere(() => tools.client.thread(channel, ts))) ?? { messages: [], isWhole: true };
  const isThere = thread.messages.some((message) => isRoot(message) || message.thread_ts === ts);
  const items = isThere ? await makeItems(tools, room, ts, thread.messages) : [];
  const item = items.find((each) => each.externalId === externalId);
  if (!item && !isUnderstood(thread)) throw halfRead(NOT_UNDERSTOOD);
  return item;
}
