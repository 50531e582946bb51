import type { Principal } from "#core/principals.ts";
import { type Failures, refusalOf } from "#sources/failures.ts";

/**
 * Reads the members of rooms one after another. Returns the groups of the rooms that can't be read now: their members
 * stay until the last reading expires.
 *
 * @throws errors that concern more than one room
 */
export async function* readRoomGroups<Room extends { id: string }, Event>(
  rooms: readonly Room[],
  failures: Failures,
  { groupOf, read }: { groupOf(roomId: string): Principal; read(room: Room): AsyncIterable<Event> },
): AsyncGenerator<Event, Principal[]> {
  const unread: Principal[] = [];
  for (const room of rooms) {
    try {
      yield* read(room);
      failures.well();
    } catch (error) {
      if (refusalOf(error) === undefined) await failures.requireOfOne(error);
      unread.push(groupOf(room.id));
    }
  }
  return unread;
}
