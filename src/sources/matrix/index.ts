import { baseUrlOf } from "#sources/base-url.ts";
import { inScopeBy } from "#sources/in-scope.ts";
import { shown, notFound } from "#sources/errors.ts";
import { defined } from "#core/defined.ts";
import type { Source } from "#sources/contract.ts";
import type { FileContent } from "#sources/item.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import type { Batching } from "#sources/session.ts";
import { toRoomsPage } from "#sources/chat/rooms.ts";
import { versionOfFile } from "#sources/chat/thread.ts";
import { checkAccount } from "./check.ts";
import { makeClient } from "./client.ts";
import { MatrixConfig, MatrixCredentials } from "./config.ts";
import { mediaOf } from "./events.ts";
import { parseId } from "./map.ts";
import { syncMatrixPeople } from "./people.ts";
import { type MatrixContext, roomsOf } from "./rooms.ts";
import { matrixSessions } from "./sync.ts";
import { isMessage } from "./walk.ts";

/** Makes the source for the rooms of a Matrix account: each thread is an item, readable by the members of its room. */
export function makeMatrixSource({ batching = {} }: { batching?: Partial<Batching> } = {}): Source<MatrixConfig> {
  return {
    spec: {
      providerId: "matrix",
      name: "Matrix",
      kinds: ["message", "file"],
      auth: [{ type: "credentials", scheme: "bearer", token: "token" }],
      config: MatrixConfig,
      credentials: MatrixCredentials,
      // 2: a cursor belongs to one run.
      stateVersion: 2,
      acl: "container",
      // No message moves to another room, and a room's members are reported separately.
      freshness: "feed",
      hasPeople: true,
    },
    check: checkAccount,
    sessions: { ...matrixSessions, batching },
    syncIdentities: syncMatrixPeople,
    async browse(ctx, at) {
      const { rooms } = roomsOf(await makeClient(ctx).rooms(), ctx.config);
      return toRoomsPage(
        rooms.map(({ id, name }) => ({ id, name, kind: "room" })),
        at,
      );
    },
    fetchContent: readFile,
    inScope: inScopeBy("channel"),
    baseUrlOf,
  };
}

/**
 * Reads a file. First checks whether its message still exists: the file of a deleted message isn't returned, even if
 * the file itself remains.
 */
async function readFile(
  ctx: MatrixContext,
  { externalId, version }: { externalId: string; version?: string },
): Promise<FileContent> {
  const place = parseId(externalId);
  const client = makeClient(ctx);
  const event = place?.isFile === true ? await client.event(place.room, place.event) : undefined;
  const media = event && isMessage(event) ? mediaOf(event) : undefined;
  if (!media) {
    const message = `There is no file ${shown(externalId)} in the rooms of this account.`;
    throw notFound(message);
  }
  const { body, headers } = await client.file(media, maxFileBytes(ctx.config));
  const mimeType = media.mimeType ?? headers.get("content-type") ?? undefined;
  return {
    stream: body,
    fileName: media.name.trim() === "" ? "file" : media.name,
    version: versionOfFile(version, media.address),
    ...defined({ mimeType }),
  };
}
