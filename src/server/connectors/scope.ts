import { actOn } from "#storage/audit-act.ts";
import type { connectorRoutes } from "#api/connectors.ts";
import type { MemberCall } from "#server/http/mount.ts";
import { ApiError } from "#api/errors.ts";
import type { ConnectorScope } from "#api/connector-records.ts";
import type { Actor } from "#storage/access/actor.ts";
import { isNarrowerScope } from "#core/scope.ts";
import type { Source } from "#sources/contract.ts";
import type { ConnectorRecord, StoredScope } from "#storage/records/connectors.ts";
import type { Store } from "#storage/records/store.ts";
import { requireActs } from "./acts.ts";
import { listChanges } from "./audit-changes.ts";
import { showConnector } from "./change.ts";
import { type ConnectorDeps, requireManaged, requireSource } from "./deps.ts";
import { isOwnedBy } from "./judge.ts";
import { askForAddition, planScope } from "./scope-plan.ts";
import { withTitles } from "./scope-titles.ts";
import { removeItems } from "./stored.ts";
import { toSync } from "./view.ts";

/**
 * Changes what the connector includes. Excluded items are removed at once; a full run reads the additions. A person who
 * doesn't own the connector can exclude more, but can't add anything.
 *
 * @throws ApiError `not_found`, `forbidden`, `connector_scope_invalid` if nothing would be left to read
 */
export async function changeScope(
  deps: ConnectorDeps,
  {
    actor,
    params: { id: connectorId },
    query: { dryRun },
    body: wanted,
  }: MemberCall<typeof connectorRoutes.changeScope>,
) {
  const managed = await requireManaged(deps.store, actor, connectorId);
  const source = await requireSource(deps.sources, managed.providerId);
  if (!source.sessions) {
    throw new ApiError("connector_scope_invalid", {
      message: `${source.spec.name} has no scope: it holds what you push to it.`,
    });
  }
  const before = await requireActs(deps, actor, connectorId, [actOf(source, managed, wanted)]);
  const { out, plan } = await planScope(deps, actor, source, connectorId, wanted);
  if (dryRun === "true") {
    const isNarrower = isNarrowerScope(before.scope, wanted, source.spec);
    const addition = isNarrower ? { items: 0, calls: 0 } : await askForAddition(deps, actor, source, before, wanted);
    const added = addition && { added: addition.items, estimatedCalls: addition.calls };
    return { ...(await showConnector(deps, actor, connectorId)), sync: null, plan: { ...plan, ...added } };
  }
  const { sync, cancelled } = await deps.store.transaction(async (tx) => {
    const workspace = tx.in(actor.workspaceId);
    const managed = await requireManaged(tx, actor, connectorId);
    const today = await requireActs(deps, actor, connectorId, [actOf(source, managed, wanted)], { on: tx });
    const scope = scopeBy(actor, today, wanted);
    const scopeVersion = today.scopeVersion + 1;
    await workspace.connectors.update(connectorId, { scope, scopeVersion });
    const ended = await deps.syncs.cancelAll(tx, actor.workspaceId, connectorId);
    const after = { ...today, scope, scopeVersion };
    const changed = isNarrowerScope(today.scope, scope, source.spec)
      ? after
      : await hideLeftOut(deps, tx, source, { actor, after });
    const wish = { trigger: "manual", mode: "full" } as const;
    const queued = await deps.syncs.request(tx, actor.workspaceId, changed, wish);
    await deps.audit.record(
      tx,
      actor,
      actOn(connectorId, "connector.scope_changed", { removed: out.length, ...listChanges(today.scope, scope) }),
    );
    return { sync: queued, cancelled: ended };
  });
  // If this process ends here, the run removes and hides the items instead.
  await removeItems(deps, actor.workspaceId, connectorId, out);
  await deps.syncs.removeHidden(actor.workspaceId, connectorId);
  deps.syncs.signal(cancelled);
  const { connector } = await showConnector(deps, actor, connectorId);
  return { connector, sync: await toSync(deps.store.in(actor.workspaceId), deps.policy, actor, before, sync), plan };
}

function actOf({ spec }: Source, { scope }: ConnectorRecord, wanted: ConnectorScope): "narrow_scope" | "widen_scope" {
  return isNarrowerScope(scope, wanted, spec) ? "narrow_scope" : "widen_scope";
}

/** Only the owner, who browsed for the entries, may see their names. */
function scopeBy(actor: Actor, connector: ConnectorRecord, wanted: ConnectorScope): StoredScope {
  const { include, exclude } = wanted;
  return withTitles(isOwnedBy(actor, connector) ? wanted : { include, exclude }, connector.scope);
}

/**
 * Hides items that the scope leaves out. Soon after a take-over, items read with the former owner's credentials must
 * not become readable through the new owner.
 */
async function hideLeftOut(
  deps: ConnectorDeps,
  tx: Store,
  source: Source,
  { actor, after }: { actor: Actor; after: ConnectorRecord },
): Promise<ConnectorRecord> {
  const { itemWrites } = tx.in(actor.workspaceId);
  if ((await itemWrites.listReadElsewhere(after.connectorId, 1)).length === 0) return after;
  return deps.syncs.hide(tx, actor.workspaceId, source, after);
}
