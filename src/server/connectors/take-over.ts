import { ApiError } from "#api/errors.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectorPatch, ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store } from "#storage/store.ts";
import type { ConnectorDeps } from "./deps.ts";
import { removeItems, walkStored } from "./stored.ts";
import { fillConnectorGroup, isNarrower } from "./visibility.ts";

/** True when its owner left with what it signed in with: the person who gives new credentials becomes its owner. */
export function isOrphan({ state }: Pick<ConnectorRecord, "state">): boolean {
  return state === "needs_owner";
}

/**
 * Makes a connector whose owner left the actor's own, in the transaction of its reason.
 *
 * @returns what changed of its record
 */
export async function takeOver(
  { audit }: Pick<ConnectorDeps, "audit">,
  tx: Store,
  actor: Actor,
  before: ConnectorRecord,
): Promise<ConnectorPatch> {
  const { connectorId } = before;
  const workspace = tx.in(actor.workspaceId);
  // Somebody else may have been quicker.
  const today = await workspace.connectors.find(connectorId);
  if (!today || !isOrphan(today)) {
    throw new ApiError("connector_state_conflict", { message: "Somebody else took over this connector." });
  }
  const patch = {
    state: "active",
    stateReason: null,
    ownerUserId: actor.userId,
    createdBy: actor.userId,
    // The former owner's names for its entries go with them.
    scope: { include: today.scope.include, exclude: today.scope.exclude },
  } as const;
  await workspace.connectors.update(connectorId, patch);
  await fillConnectorGroup(workspace, connectorId, { ...before, ...patch });
  await workspace.access.raiseEpoch();
  await audit.record(tx, actor, {
    action: "connector.taken_over",
    target: { type: "connector", id: connectorId },
    details: { from: before.ownerUserId, to: actor.userId },
  });
  return patch;
}

/**
 * What was read with the former owner's credentials is not the taker's to read. Where the taker could not see past the
 * connector's own access before, everything stored goes, and the first run reads what the new credentials give.
 */
export async function removeWhatTakerCouldNotRead(
  deps: Pick<ConnectorDeps, "store" | "clock">,
  actor: Actor,
  before: ConnectorRecord,
): Promise<void> {
  if (isNarrower(before, { ...before, ownerUserId: actor.userId })) return;
  const kbIds: string[] = [];
  for await (const { kbId } of walkStored(deps.store.in(actor.workspaceId), before.connectorId)) kbIds.push(kbId);
  await removeItems(deps, actor.workspaceId, before.connectorId, kbIds);
}

/** @throws ApiError `forbidden`: the key of a push connector opens every item in it, so not every admin may have it */
export function requireMayTakeOverPush(actor: Actor): void {
  if (actor.role === "owner") return;
  throw new ApiError("forbidden", {
    message: "The owner of this connector left. Only the owner of the workspace can take over a push connector.",
  });
}
