import { isNamedIn } from "#sources/in-scope.ts";
import type { SourceItem } from "#sources/item.ts";
import { halfRead, NOT_UNDERSTOOD } from "#sources/listed.ts";
import { readEach } from "#sources/read-each.ts";
import type { Result } from "#sources/outcomes.ts";
import { isRoomId, parseId, toEncryptedItem, toItems } from "./map.ts";
import { knownRoom, type RoomFacts, roomsOf } from "./rooms.ts";
import type { Tools } from "./tools.ts";
import { rootOf } from "./touched.ts";
import { readThread } from "./walk.ts";

/** Reads the present state of these items alone. */
export async function* readItems(tools: Tools, externalIds: readonly string[]): AsyncGenerator<Result, void> {
  const { ctx, client, scope, start } = tools;
  const ids = new Set(externalIds.flatMap((externalId) => placeOf(externalId).room ?? []));
  const { rooms, odd } = roomsOf(await client.rooms([...ids]), ctx.config);
  yield* readEach<Result>(tools, externalIds, async (externalId) => {
    const { room: id = "", event } = placeOf(externalId);
    if (odd.includes(id)) throw halfRead(NOT_UNDERSTOOD);
    const room = rooms.find((each) => each.id === id && isNamedIn(scope, each.id));
    const item = room && (await readOne(room, externalId, event));
    return item ? [{ t: "upsert", item }] : [];
  });

  async function readOne(room: RoomFacts, externalId: string, eventId?: string): Promise<SourceItem | undefined> {
    if (eventId === undefined) return room.isEncrypted ? toEncryptedItem(tools, room) : undefined;
    const event = await client.event(room.id, eventId);
    if (!event) return undefined;
    const known = await knownRoom(ctx, room.id);
    const isRestricted = room.isRestricted || known?.isRestricted !== false;
    const thread = await readThread({ client, room, start }, rootOf(event), isRestricted);
    const items = thread ? toItems(tools, room, thread, await tools.names(room.id)) : [];
    return items.find((item) => item.externalId === externalId);
  }
}

function placeOf(externalId: string): { room?: string; event?: string } {
  const { room, event } = parseId(externalId) ?? {};
  if (room !== undefined && event !== undefined) return { room, event };
  return isRoomId(externalId) ? { room: externalId } : {};
}
