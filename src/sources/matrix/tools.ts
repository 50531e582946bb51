import { makeContainers } from "#sources/containers.ts";
import type { SyncContext } from "#sources/context.ts";
import { failedSkip, makeFailures } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import { reportSeen } from "#sources/seen.ts";
import type { OpenRequest } from "#sources/session.ts";
import type { Outcome } from "#sources/outcomes.ts";
import { windowStart } from "#sources/chat/config.ts";
import { roomRef } from "#sources/chat/rooms.ts";
import { makeClient } from "./client.ts";
import type { MatrixConfig } from "./config.ts";
import { fileId, threadId } from "./map.ts";
import { keepRoom, makeNames, noteRead, type RoomFacts, serverOf } from "./rooms.ts";

export type Tools = Awaited<ReturnType<typeof makeTools>>;

/** The dependencies of a run. */
export async function makeTools(ctx: SyncContext<MatrixConfig>, { scope }: OpenRequest) {
  const client = makeClient(ctx);
  const me = (await client.whoAmI()).user_id;
  const failures = makeFailures(() => client.whoAmI());
  return {
    ctx,
    client,
    scope,
    server: serverOf(me),
    names: makeNames(client, failures),
    start: windowStart(ctx.config, ctx.now()),
    failures,
    rooms: makeContainers<RoomFacts>(ctx, {
      key: "read",
      refOf: roomRef,
      nameOf: ({ name }) => name,
      // The next run reads the room in full, even without new messages.
      async forget(id) {
        keepRoom(ctx, id);
        await noteRead(ctx, id, false);
      },
      failures,
    }),
  };
}

/** Reports events that could not be parsed: their stored items stay. */
export function oddEvents({ id: room }: RoomFacts, ids: readonly string[]): Outcome[] {
  const failed = ids.map((id) => failedSkip(threadId(room, id), NOT_UNDERSTOOD));
  return [...failed, ...reportSeen(ids.map((id) => fileId(room, id)))];
}
