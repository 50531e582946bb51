import { isApiError } from "#api/errors.ts";
import type { SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import { roomRef } from "#sources/chat/rooms.ts";
import { type Failures, failedSkip } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import { tellSeen } from "#sources/seen.ts";
import { notRead, type Waits } from "#sources/waits.ts";
import type { MatrixClient } from "./client.ts";
import type { MatrixConfig } from "./config.ts";
import { fileId, type Mapping, threadId } from "./map.ts";
import { keepRoom, type Names, noteRead, type RoomFacts } from "./rooms.ts";

export type Context = SyncContext<MatrixConfig>;
export type Event<Cursor = never> = SyncEvent<Cursor>;

/** What a run works with. */
export interface Tools extends Mapping {
  ctx: Context;
  client: MatrixClient;
  names: Names;
  start: number;
  run: Pick<SyncRequest<unknown>, "mode" | "scope" | "externalIds" | "runId">;
  failures: Failures;
  waits: Waits;
}

/** A room that is refused, or at which its server fails: it is read whole next. @throws what is about more than the room */
export async function roomNotRead(tools: Tools, { id, name }: RoomFacts, error: unknown): Promise<Event> {
  const message = `${name} can't be read now: ${isApiError(error) ? error.message : NOT_UNDERSTOOD}`;
  const event = await notRead(tools, { container: roomRef(id), externalId: id, message }, error);
  keepRoom(tools.ctx, id);
  await noteRead(tools.ctx, id, false);
  return event;
}

/** A room that was listed and isn't understood: it stays as it is. */
export async function oddRoom(ctx: Context, id: string): Promise<Event> {
  keepRoom(ctx, id);
  await noteRead(ctx, id, false);
  return failedSkip(id, NOT_UNDERSTOOD);
}

/** What is stored of these events stays. */
export function oddEvents(room: RoomFacts, ids: readonly string[]): Event[] {
  const failed = ids.map((id) => failedSkip(threadId(room.id, id), NOT_UNDERSTOOD));
  return [...failed, ...tellSeen(ids.map((id) => fileId(room.id, id)))];
}
