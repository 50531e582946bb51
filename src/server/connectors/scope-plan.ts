import type { ScopePlan } from "#api/connector-records.ts";
import type { Scope } from "#core/scope.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ScopeAddition, Source } from "#sources/contract.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { ConnectorDeps } from "./deps.ts";
import { makeContext } from "./sources.ts";

/** Lists the stored items that a scope would leave out. Nothing is read from the source. */
export async function planScope(
  deps: ConnectorDeps,
  actor: Actor,
  source: Source,
  connectorId: string,
  scope: Scope,
): Promise<{ out: string[]; plan: ScopePlan }> {
  const inScope = source.inScope?.bind(source);
  const out: string[] = [];
  let rechecked = 0;
  if (inScope) {
    for await (const { kbId, ...item } of deps.store.in(actor.workspaceId).itemWrites.walkPlaced(connectorId)) {
      rechecked++;
      if (!inScope(scope, item)) out.push(kbId);
    }
  }
  return { out, plan: { added: null, removed: inScope ? out.length : null, rechecked, estimatedCalls: null } };
}

/**
 * Returns the source's estimate of what a scope would add. Undefined if the source has no estimate now; then only a run
 * can show it.
 */
export async function askForAddition(
  deps: ConnectorDeps,
  actor: Actor,
  source: Source,
  before: ConnectorRecord,
  to: Scope,
): Promise<ScopeAddition | undefined> {
  if (!source.countAdded) return undefined;
  try {
    const standing = await deps.credentials.credentialsOf(actor.workspaceId, before);
    const { connectorId: id, name, config, visibility } = before;
    const context = makeContext(deps, source, config, { id, name, ...standing });
    return await source.countAdded(
      { ...context, connector: { ...context.connector, visibility } },
      { from: before.scope, to },
    );
  } catch (error) {
    deps.log.info({ connectorId: before.connectorId, error }, "The source can't say what a scope adds.");
    return undefined;
  }
}
