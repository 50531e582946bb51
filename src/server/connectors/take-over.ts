import { actOn } from "#storage/audit-act.ts";
import { ApiError } from "#api/errors.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectorPatch, ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store } from "#storage/records/store.ts";
import { requireActs } from "./acts.ts";
import type { ConnectorDeps } from "./deps.ts";
import { isOrphan } from "./judge.ts";
import { fillConnectorGroup, isNarrower } from "./visibility.ts";

/**
 * Makes the actor the owner of a connector whose owner left, in the transaction of the change that causes it.
 *
 * @returns the changes to the connector's record
 * @throws ApiError `connector_state_conflict` if someone else was faster, `forbidden` if the person may not take it
 *   over
 */
export async function takeOver(
  deps: Pick<ConnectorDeps, "audit" | "store" | "sources" | "judgeAct" | "clock">,
  tx: Store,
  actor: Actor,
  connectorId: string,
): Promise<ConnectorPatch> {
  const workspace = tx.in(actor.workspaceId);
  // Someone else may have been faster.
  const today = await workspace.connectors.find(connectorId);
  if (!today || !isOrphan(today)) {
    throw new ApiError("connector_state_conflict", { message: "Someone else took over this connector." });
  }
  await requireActs(deps, actor, connectorId, ["take_over"], { on: tx });
  const patch = {
    state: "active",
    stateReason: null,
    pausedBy: null,
    ownerUserId: actor.userId,
    createdBy: actor.userId,
    ownedSince: deps.clock.now(),
    // The former owner's names of the entries are removed, since only that owner may see them.
    scope: { include: today.scope.include, exclude: today.scope.exclude },
  } as const;
  await workspace.connectors.update(connectorId, patch);
  await workspace.itemWrites.passOn(connectorId, { from: today.ownerUserId, to: actor.userId });
  await fillConnectorGroup(workspace, connectorId, { ...today, ...patch });
  await workspace.access.raiseEpoch();
  await deps.audit.record(
    tx,
    actor,
    actOn(connectorId, "connector.taken_over", { from: today.ownerUserId, to: actor.userId }),
  );
  return patch;
}

/**
 * Whether the connector's own access hid its items from the new owner before. Then everything stored is removed, and
 * the first run reads with the new credentials, since the new owner may not read what the former owner's credentials
 * read.
 */
export function opensToTaker(actor: Actor, before: ConnectorRecord): boolean {
  return !isNarrower(before, { ...before, ownerUserId: actor.userId, state: "active" });
}
