import { ApiError, forbidden } from "#api/errors.ts";
import type { ConnectorCaller } from "#storage/access/actor.ts";
import type { HeldBytes } from "#core/spool.ts";
import type { PushedDocument, PushedLine } from "#sources/push/events.ts";
import type { ChildRules } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { ItemOp } from "#storage/item-batch.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { ConnectorDeps } from "./deps.ts";
import { stateConflict } from "./state-conflict.ts";

/**
 * Dependencies of pushing that aren't in `ConnectorDeps`: the readers of lines and documents, and the preparation of
 * items.
 */
export interface PushOnlyDeps {
  readLines(stream: AsyncIterable<Uint8Array>, options: { place: string }): AsyncIterable<PushedLine>;
  readDocument(
    stream: AsyncIterable<Uint8Array>,
    options: { contentType: string | undefined; place: string },
  ): Promise<PushedDocument>;
  /** Limits the bytes of documents that are read at once, for all senders together. */
  documentGate: Gate;
  /**
   * Reserves memory for a document from the byte limit of all runs. Only a document that has passed the gate may
   * request it, so that no deadlock can occur. `close` releases the memory.
   */
  openRoom(asker: { workspaceId: string; connectorId: string }, signal: AbortSignal): ItemRoom & { close(): void };
  /**
   * Extracts and analyzes an item and the files inside it. `judge` decides the access; `content` is the content of an
   * item with content `fetch`. The first op stores the item itself. The result is never undefined here, since nothing
   * is fetched.
   */
  prepareItem(
    workspaceId: string,
    connector: Pick<ConnectorRecord, "connectorId" | "name" | "providerId">,
    input: {
      item: SourceItem;
      judge: (access: SourceAccess) => SourceAccess;
      content?: ItemBytes;
      rules?: ChildRules;
      room?: ItemRoom;
    },
  ): Promise<{ ops: readonly ItemOp[] } | undefined>;
}

interface Gate {
  enter(bytes: number, signal: AbortSignal): Promise<() => void>;
}

export interface ItemRoom {
  enter(bytes: number): Promise<void>;
  note(text: string): void;
}

/** The bytes of a document, which are sent next to its line. */
export interface ItemBytes {
  bytes: HeldBytes;
  mimeType?: string;
  fileName: string;
}

/** Everything that pushing depends on. */
export type PushDeps = ConnectorDeps & PushOnlyDeps;

/** The person who pushes, and the connector to which they push. */
export interface PushTarget {
  caller: ConnectorCaller;
  connector: ConnectorRecord;
  uploadId: string | undefined;
}

/**
 * Returns the connector if it accepts pushes with this key.
 *
 * @throws ApiError `not_found`, `connector_state_conflict`, `forbidden` if the key belongs to someone who isn't an
 *   admin now
 */
export async function requirePushable(deps: ConnectorDeps, caller: ConnectorCaller): Promise<ConnectorRecord> {
  const connector = await deps.store.in(caller.workspaceId).connectors.find(caller.connectorId);
  if (!connector) throw new ApiError("not_found", { message: "There is no such connector." });
  if (connector.state !== "active") throw stateConflict(connector, "doesn't accept anything right now");
  await requireRightToKey(deps, caller, connector);
  return connector;
}

/**
 * Checks that the key may be used. A key decides who may read the items that it pushes, and only admins may decide
 * that. The key is therefore suspended while the owner of its connector, or the person who made the key, isn't an
 * admin. Each request checks it, so the key works again when the person gets the role back. Source: S63.
 */
async function requireRightToKey(
  { store, clock }: ConnectorDeps,
  { workspaceId, keyId }: ConnectorCaller,
  { connectorId, ownerUserId }: ConnectorRecord,
): Promise<void> {
  const { connectors, members } = store.in(workspaceId);
  const key = (await connectors.listKeys(connectorId, clock.now())).find((one) => one.keyId === keyId);
  for (const userId of new Set([ownerUserId, key?.createdBy ?? ownerUserId])) {
    // When an owner leaves, their own keys end. A key that still works belongs to someone else.
    if ((await members.find(userId))?.role === "member") throw keyRests();
  }
}

function keyRests(): ApiError {
  return forbidden(
    "The owner of this connector is no longer an admin, so its key can't push.",
    "It works again once they are an admin. Or an admin can create their own connector and push to that.",
  );
}

/**
 * Checks again during a long push, since the connector may have been paused or the key ended in the meantime.
 *
 * @throws ApiError as `requirePushable`, `unauthenticated`
 */
export async function requireStillPushable(deps: ConnectorDeps, caller: ConnectorCaller): Promise<void> {
  await requirePushable(deps, caller);
  const { connectors } = deps.store.in(caller.workspaceId);
  const keys = await connectors.listKeys(caller.connectorId, deps.clock.now());
  if (keys.some((key) => key.keyId === caller.keyId)) return;
  throw new ApiError("unauthenticated", {
    message: "This connector key has ended. Use the new key to send the lines without a result.",
  });
}

/** The location of items whose lines have none. */
export function placeOf(connector: ConnectorRecord): string {
  const place = connector.config["source"];
  return typeof place === "string" ? place : connector.name;
}
