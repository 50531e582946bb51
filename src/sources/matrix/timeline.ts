import { entryOf, type Page } from "#sources/session.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { JoinedRoom } from "./client.ts";
import type { MatrixEvent } from "./events.ts";
import { fileId, threadId, toItems } from "./map.ts";
import type { RoomFacts } from "./rooms.ts";
import { oddEvents, type Tools } from "./tools.ts";
import { threadsTouched } from "./touched.ts";
import { readThread } from "./walk.ts";

/**
 * Reports events that were written, changed or deleted in a room since the last run. Returns whether all of the
 * timeline was read.
 */
export async function* readTimeline(
  tools: Tools,
  room: RoomFacts,
  { timeline }: JoinedRoom,
  since: string,
): AsyncGenerator<Outcome | Page<never>, boolean> {
  const { ctx, client, start } = tools;
  let isWhole = true;
  const events: MatrixEvent[] = [...timeline.events];
  yield* oddEvents(room, timeline.odd);
  if (timeline.isCut && timeline.before !== undefined) {
    for await (const page of client.messages(room.id, timeline.before, since)) {
      events.unshift(...page.events.toReversed());
      yield* oddEvents(room, page.odd);
    }
  }
  const touched = await threadsTouched({ ctx, client, room, start }, events);
  if (touched.roots.size === 0 && touched.files.size === 0) return true;
  const nameOf = await tools.names(room.id);
  const named = new Set<string>();
  for (const [rootId, known] of touched.roots) {
    ctx.signal.throwIfAborted();
    try {
      const thread = known ?? (await readThread({ client, room, start }, rootId, room.isRestricted));
      const items = thread ? toItems(tools, room, thread, nameOf) : [];
      for (const { externalId } of items) named.add(externalId);
      yield { t: "page", entries: items.map(entryOf) };
    } catch (error) {
      await tools.failures.requireOfOne(error);
      yield* oddEvents(room, [rootId]);
      for (const idOf of [threadId, fileId]) named.add(idOf(room.id, rootId));
      isWhole = false;
    }
  }
  const gone = [
    ...[...touched.roots.keys()].map((id) => threadId(room.id, id)),
    ...[...touched.files].map((id) => fileId(room.id, id)),
  ];
  for (const externalId of gone) {
    if (!named.has(externalId) && (await ctx.stored.version(externalId)) !== undefined)
      yield { t: "delete", externalId };
  }
  return isWhole;
}
