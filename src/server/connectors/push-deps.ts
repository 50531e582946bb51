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

/** Dependencies of pushing besides `ConnectorDeps`: the readers of lines and documents and the maker of items. */
export interface PushOnlyDeps {
  readLines(stream: AsyncIterable<Uint8Array>, options: { place: string }): AsyncIterable<PushedLine>;
  readDocument(
    stream: AsyncIterable<Uint8Array>,
    options: { contentType: string | undefined; place: string },
  ): Promise<PushedDocument>;
  /** Bounds the bytes of documents that are read, of all senders together. */
  documentGate: Gate;
  /**
   * A document's room among the bytes of all runs: requested only by those who are through the gate, so that no
   * deadlock can form. `close` releases it.
   */
  openRoom(asker: { workspaceId: string; connectorId: string }, signal: AbortSignal): ItemRoom & { close(): void };
  /**
   * Extracts and analyzes an item and the files inside it; `judge` decides over its access, `content` is the content of
   * an item with content `fetch`. The first of the ops stores the item itself. Undefined can't happen: nothing is
   * fetched.
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

/** The bytes of a document, besides its line. */
export interface ItemBytes {
  bytes: HeldBytes;
  mimeType?: string;
  fileName: string;
}

/** Everything that pushing depends on. */
export type PushDeps = ConnectorDeps & PushOnlyDeps;

/** The person who pushes, and the target. */
export interface PushTarget {
  caller: ConnectorCaller;
  connector: ConnectorRecord;
  uploadId: string | undefined;
}

/**
 * Returns the connector while it takes pushes with this key.
 *
 * @throws ApiError `not_found`, `connector_state_conflict`, `forbidden` when the key belongs to someone who isn't an
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
 * A key decides who may read the items it pushes, which only admins may do: it is suspended while the owner of its
 * connector, or the person who made it, isn't an admin. Checked for each request, so it works again with the role.
 * Source: S63.
 */
async function requireRightToKey(
  { store, clock }: ConnectorDeps,
  { workspaceId, keyId }: ConnectorCaller,
  { connectorId, ownerUserId }: ConnectorRecord,
): Promise<void> {
  const { connectors, members } = store.in(workspaceId);
  const key = (await connectors.listKeys(connectorId, clock.now())).find((one) => one.keyId === keyId);
  for (const userId of new Set([ownerUserId, key?.createdBy ?? ownerUserId])) {
    // An owner who left took their own keys with them; a key that still works belongs to someone else.
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
 * The same during a long push: the connector may have been paused and the key ended since it began.
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

/** The place of items whose lines name none. */
export function placeOf(connector: ConnectorRecord): string {
  const place = connector.config["source"];
  return typeof place === "string" ? place : connector.name;
}
