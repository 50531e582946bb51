import { actOn } from "#storage/audit-act.ts";
import type { connectorRoutes } from "#api/connectors.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { ApiError } from "#api/errors.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store } from "#storage/records/store.ts";
import { requireActs } from "./acts.ts";
import { addKey } from "./create.ts";
import { type ConnectorDeps, requireManaged, requireSource } from "./deps.ts";
import { takesKey } from "./sources.ts";
import { isOrphan, isOwnedBy } from "./judge.ts";
import { takeOver } from "./take-over.ts";

/**
 * Makes a new key for the connector's owner. The previous key works until the overlap ends. Older keys end now, so that
 * at most two are valid (S41). The holder of the key decides who may read each item, so only the owner gets it: if an
 * admin rotates another person's key, the key ends and the admin gets none. If the owner has left, the owner of the
 * workspace takes the connector over.
 *
 * @returns null if another person's keys were ended
 * @throws ApiError `not_found`, `connector_state_conflict` for connectors without keys, `forbidden`
 */
export async function rotateKey(
  deps: ConnectorDeps,
  {
    actor,
    params: { id: connectorId },
    body: { overlapSeconds } = DEFAULT_OVERLAP,
  }: MemberCall<typeof connectorRoutes.rotateKey>,
) {
  const connector = await requireManaged(deps.store, actor, connectorId);
  const { spec } = await requireSource(deps.sources, connector.providerId);
  if (!takesKey(spec)) {
    throw new ApiError("connector_state_conflict", { message: `${spec.name} connectors have no key.` });
  }
  const isOthers = !isOwnedBy(actor, connector);
  if (isOthers && !isOrphan(connector)) return endKeysOfOther(deps, actor, connector);
  await requireActs(deps, actor, connectorId, [isOthers ? "take_over" : "rotate_key"]);
  return deps.store.transaction(async (tx) => {
    if (isOthers) await takeOver(deps, tx, actor, connectorId);
    await requireActs(deps, actor, connectorId, ["rotate_key"], { on: tx });
    const { connectors } = tx.in(actor.workspaceId);
    const now = deps.clock.now();
    const [newest, ...older] = await liveKeys(deps, tx, actor, connectorId);
    await connectors.endKeys(older, now);
    if (newest !== undefined) await connectors.endKeys([newest], now + overlapSeconds * 1_000);
    const key = await addKey(deps, tx, actor, connectorId);
    await connectors.update(connectorId, { stateReason: null });
    await deps.audit.record(tx, actor, actOn(connectorId, "connector.key_rotated", { overlapSeconds }));
    return { key };
  });
}

/** How long the previous key still works by default. */
const DEFAULT_OVERLAP = { overlapSeconds: 600 };

const ENDED = "An admin of the workspace revoked its key. Only its owner can create a new one.";

async function endKeysOfOther(deps: ConnectorDeps, actor: Actor, { connectorId }: ConnectorRecord) {
  return deps.store.transaction(async (tx) => {
    await requireActs(deps, actor, connectorId, ["end_keys"], { on: tx });
    const { connectors } = tx.in(actor.workspaceId);
    const ended = await liveKeys(deps, tx, actor, connectorId);
    await connectors.endKeys(ended, deps.clock.now());
    // The owner sees the reason in any state.
    await connectors.update(connectorId, { stateReason: ENDED });
    await deps.audit.record(tx, actor, actOn(connectorId, "connector.key_revoked", { keys: ended.length }));
    return { key: null };
  });
}

async function liveKeys({ clock }: ConnectorDeps, tx: Store, actor: Actor, connectorId: string): Promise<string[]> {
  const keys = await tx.in(actor.workspaceId).connectors.listKeys(connectorId, clock.now());
  return keys.map((key) => key.keyId);
}
