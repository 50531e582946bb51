import type { SyncContext } from "#sources/context.ts";
import { ifUnderstood } from "#sources/failures.ts";
import { roomRef } from "#sources/chat/rooms.ts";
import { spanOf } from "#sources/chat/thread.ts";
import type { MatrixClient } from "./client.ts";
import type { MatrixConfig } from "./config.ts";
import { isForMembers, type MatrixEvent, relationOf } from "./events.ts";
import { parseId, type Thread } from "./map.ts";
import type { RoomFacts } from "./rooms.ts";
import { isMessage } from "./walk.ts";

interface Options {
  ctx: Pick<SyncContext<MatrixConfig>, "stored">;
  client: MatrixClient;
  room: RoomFacts;
  start: number;
}

/** The threads and files that the events of a room's feed affect. */
export interface Touched {
  /** Threads by their root. A thread is either complete, or undefined if it has to be read again. */
  roots: ReadonlyMap<string, Thread | undefined>;
  /** Ids of messages that may have contained a file, and may no longer contain one. */
  files: ReadonlySet<string>;
}

/** Returns the threads that the events of a room have changed. */
export async function threadsTouched(options: Options, events: readonly MatrixEvent[]): Promise<Touched> {
  const { client, room, start } = options;
  const roots = new Map<string, Thread | undefined>();
  const files = new Set<string>();
  for (const event of events) {
    const { thread, replaces } = relationOf(event);
    if (event.type === "m.room.redaction" && event.redacts !== undefined) await redacted(event.redacts);
    else if (event.type !== "m.room.message" || event.isRedacted || !isForMembers(room.visibility)) continue;
    else if (replaces !== undefined) await edited(replaces);
    else if (thread !== undefined) roots.set(thread, undefined);
    else if (!roots.has(event.id)) roots.set(event.id, alone(event));
  }
  return { roots, files };

  /** Returns a thread of one message: a message without replies is already a complete thread. */
  function alone(event: MatrixEvent): Thread | undefined {
    const isWhole = event.threadCount === undefined && event.at >= start;
    return isWhole ? { rootId: event.id, root: event, replies: [] } : undefined;
  }

  async function edited(id: string): Promise<void> {
    const event = await ifUnderstood(() => client.event(room.id, id));
    if (!event || !isMessage(event)) return;
    roots.set(relationOf(event).thread ?? id, undefined);
    files.add(id);
  }

  /** Handles a deleted message. It no longer names its thread, so every thread of its time is checked. */
  async function redacted(id: string): Promise<void> {
    const event = await ifUnderstood(() => client.event(room.id, id));
    if (event && event.type !== "m.room.message") return;
    files.add(id);
    roots.set(id, undefined);
    if (!event) return;
    for await (const { externalId, version } of options.ctx.stored.list(roomRef(room.id))) {
      const span = spanOf(version);
      const parts = parseId(externalId);
      if (span && parts && !parts.isFile && span.from <= event.at && event.at <= span.to)
        roots.set(parts.event, undefined);
    }
  }
}

/** Returns the root of the thread that a message belongs to. */
export function rootOf(event: MatrixEvent): string {
  return relationOf(event).thread ?? event.id;
}
