import { z } from "zod";
import type { SyncContext } from "#sources/context.ts";
import { type ContainerEvent, makeContainers, placeSchema } from "#sources/containers.ts";
import { failedSkip, makeFailures } from "#sources/failures.ts";
import { defined } from "#core/defined.ts";
import { halfRead, completeOf } from "#sources/listed.ts";
import { readEach } from "#sources/read-each.ts";
import {
  entryOf,
  type Session,
  type SessionSpec,
  type WalkEnd,
  type WalkEvent,
  type WalkRequest,
} from "#sources/session.ts";
import type { Result } from "#sources/outcomes.ts";
import { windowStart } from "#sources/chat/config.ts";
import { roomRef } from "#sources/chat/rooms.ts";
import { makeClient } from "./client.ts";
import type { SlackConfig } from "./config.ts";
import { isRoot, type Room, stampOf } from "./map.ts";
import { reportOdd, readOne, readRooms, readThreads, type Tools } from "./threads.ts";

/** `at` is the start of the last run that read every channel. */
const Cursor = z.object({ at: z.number() });
type Cursor = z.infer<typeof Cursor>;

/** The position in the current channel. Messages newer than the timestamp were read. */
const Checkpoint = placeSchema(z.string(), Cursor);
type Checkpoint = z.infer<typeof Checkpoint>;

const DAY_MS = 86_400_000;
/**
 * The age up to which increments read messages again. Older edits are missed, since an edit doesn't change the time of
 * a message and no feed reports it.
 */
const READ_AGAIN_MS = 7 * DAY_MS;

export const slackSessions: SessionSpec<SlackConfig, Cursor, Checkpoint> = {
  cursor: Cursor,
  checkpoint: Checkpoint,
  async open(ctx, { scope }): Promise<Session<Cursor, Checkpoint>> {
    const tools = await openWorkspace(ctx, scope);
    let rooms: ReturnType<typeof readRooms> | undefined;
    return {
      walk: (run) => walk(tools, run),
      read: (ids) =>
        readEach<Result>(tools, ids, async (id) => {
          const item = await readOne(tools, await (rooms ??= readRooms(tools)), id);
          return item ? [{ t: "upsert", item }] : [];
        }),
    };
  },
};

async function openWorkspace(ctx: SyncContext<SlackConfig>, scope: Tools["scope"]): Promise<Tools> {
  const client = makeClient(ctx);
  const { team_id: team, url } = await client.whoAmI();
  const home = (url ?? "https://app.slack.com").replace(/\/+$/, "");
  const failures = makeFailures(() => client.whoAmI());
  const channels = makeContainers<Room>(ctx, { key: "channel", refOf: roomRef, nameOf: ({ name }) => name, failures });
  const start = windowStart(ctx.config, ctx.now());
  return { ctx, client, team, home, users: new Map(), scope, start, failures, channels };
}

/**
 * Reads every channel, in full or its last days. A channel's readers are reported separately, and no message moves from
 * one channel to another, so messages that aren't read keep their permissions.
 */
async function* walk(
  tools: Tools,
  { since, resume }: WalkRequest<Cursor, Checkpoint>,
): AsyncGenerator<WalkEvent<Checkpoint>, WalkEnd<Cursor>> {
  const { ctx, channels, start } = tools;
  const place = resume ?? { feed: { at: ctx.now() }, after: "" };
  const { missing, ...rooms } = await readRooms(tools);
  // The config names these channels.
  for (const name of missing) yield failedSkip(name, `The app can't see ${name}. Type /invite @kb there.`);
  yield* channels.odd(rooms);
  const recent = since && Math.max(start, Math.min(place.feed.at - READ_AGAIN_MS, since.at - DAY_MS));
  yield* channels.walk(rooms.known, place, (room, latest) =>
    recent === undefined ? readWhole(tools, room, latest) : readAgain(tools, room, recent, latest),
  );
  const { gone } = await channels.keep(rooms);
  if (since && rooms.isWhole) for (const id of gone) yield { t: "delete_container", ...roomRef(id) };
  const { complete, why } = since ? { complete: false } : completeOf(rooms.isWhole, "Slack's list of channels");
  return { complete, ...defined({ why }), cursor: place.feed, permissions: "current" };
}

async function* readWhole(tools: Tools, room: Room, latest?: string): AsyncGenerator<ContainerEvent<string>, void> {
  yield* readRoom(tools, room, tools.start, latest);
  await tools.channels.isRead(room);
}

/** Reads the last days of a channel, or the whole channel if it is new or renamed. */
async function* readAgain(
  tools: Tools,
  room: Room,
  recent: number,
  latest?: string,
): AsyncGenerator<ContainerEvent<string>, void> {
  const { channels, start } = tools;
  const isKnown = await channels.isKnown(room);
  const isWaiting = !isKnown && (await channels.isWaiting(room));
  const isWhole = !isKnown && !isWaiting;
  yield* readRoom(tools, room, isWhole ? start : recent, latest);
  yield { t: "listed", container: roomRef(room.id), ...(!isWhole && { from: recent }) };
  if (isWaiting) yield channels.waiting(room.id, room.name);
  else await channels.isRead(room);
}

/**
 * Reads the threads of a channel that began at or after a time, the newest first. `before` is the position where an
 * earlier attempt ended.
 */
async function* readRoom(
  tools: Tools,
  room: Room,
  from: number,
  before?: string,
): AsyncGenerator<ContainerEvent<string>, void> {
  const { client } = tools;
  let unread = 0;
  for (let latest = before; ;) {
    const { messages, has_more: hasMore } = await client.history(room.id, { oldest: stampOf(from), latest });
    unread += messages.nameless;
    const { items, outcomes } = await readThreads(tools, room, messages.known.filter(isRoot));
    const stamps = [...messages.known.map(({ ts }) => ts), ...messages.odd];
    const last = stamps.sort((a, b) => Number(b) - Number(a)).at(-1);
    if (hasMore && (last === undefined || last === latest)) throw halfRead("A listing ended early.");
    const next = hasMore ? last : undefined;
    const odd = await reportOdd(tools, room, messages.odd);
    yield { t: "page", entries: [...items.map(entryOf), ...outcomes, ...odd], at: next };
    if (next === undefined) break;
    latest = next;
  }
  if (unread > 0) throw halfRead("kb doesn't understand all messages of the channel.");
}
