import { ApiError } from "#api/errors.ts";
import type { ConnectorCaller } from "#storage/access/actor.ts";
import type { HeldBytes } from "#core/spool.ts";
import type { PushedDocument, PushedLine } from "#sources/push/events.ts";
import type { ChildRules } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { ItemOp } from "#storage/batch/item-batch.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { ConnectorDeps } from "./deps.ts";
import { stateConflict } from "./state-conflict.ts";

/** What pushing depends on besides `ConnectorDeps`: the readers of lines and documents and the maker of items. */
export interface PushOnlyDeps {
  readLines(stream: AsyncIterable<Uint8Array>, options: { place: string }): AsyncIterable<PushedLine>;
  readDocument(
    stream: AsyncIterable<Uint8Array>,
    options: { contentType: string | undefined; place: string },
  ): Promise<PushedDocument>;
  /** Bounds the bytes of documents that are read, of all senders together. */
  documentGate: Gate;
  /**
   * A document's room among the bytes of all runs: asked for by those who are through the gate, so nobody waits for a
   * circle. `close` gives it back.
   */
  openRoom(asker: { workspaceId: string; connectorId: string }, signal: AbortSignal): ItemRoom & { close(): void };
  /**
   * Extracts and analyzes an item and the files inside it; `judge` decides over its access, `content` is what an item
   * with content `fetch` holds. The first of the ops stores the item itself. Undefined can't happen: nothing is fetched.
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

/** What a document holds besides its line. */
export interface ItemBytes {
  bytes: HeldBytes;
  mimeType?: string;
  fileName: string;
}

/** Everything that pushing depends on. */
export type PushDeps = ConnectorDeps & PushOnlyDeps;

/** Whose push it is and where it goes. */
export interface PushTarget {
  caller: ConnectorCaller;
  connector: ConnectorRecord;
  uploadId: string | undefined;
}

/**
 * The connector, while it takes pushes with this key.
 *
 * @throws ApiError `not_found`, `connector_state_conflict`, `forbidden` when the key is of somebody who is no admin now
 */
export async function requirePushable(deps: ConnectorDeps, caller: ConnectorCaller): Promise<ConnectorRecord> {
  const connector = await deps.store.in(caller.workspaceId).connectors.find(caller.connectorId);
  if (!connector) throw new ApiError("not_found", { message: "There is no such connector." });
  if (connector.state !== "active") throw stateConflict(connector, "doesn't accept anything right now");
  await requireRightToKey(deps, caller, connector);
  return connector;
}

/**
 * A key says who may read what it pushes, which is for admins: it rests while the owner of its connector, or the person who
 * made it, is none. Asked for each request, so it works again with the role. Source: S63.
 */
async function requireRightToKey(
  { store, clock }: ConnectorDeps,
  { workspaceId, keyId }: ConnectorCaller,
  { connectorId, ownerUserId }: ConnectorRecord,
): Promise<void> {
  const { connectors, members } = store.in(workspaceId);
  const key = (await connectors.listKeys(connectorId, clock.now())).find((one) => one.keyId === keyId);
  for (const userId of new Set([ownerUserId, key?.createdBy ?? ownerUserId])) {
    // An owner who left took their own keys with them; what opens it still is somebody else's.
    if ((await members.find(userId))?.role === "member") throw keyRests();
  }
}

function keyRests(): ApiError {
  return new ApiError("forbidden", {
    message: "The owner of this connector is no longer an admin, so its key can't push.",
    hint: "It works again once they are an admin. Or an admin can create their own connector and push to that.",
  });
}

/**
 * The same while a long push goes on: the connector may have been paused and the key ended since it began.
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
