import type { Authority } from "#core/principals.ts";
import type { Source } from "#sources/contract.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { Store } from "#storage/store.ts";
import { isMirror } from "./clocks.ts";

interface Bound {
  source: Source;
  config: unknown;
  connector: ConnectorRecord;
  sync: SyncRecord;
  authority: Pick<Authority, "users">;
}

/**
 * A cursor and a state tell what one account of one instance was told, in the form of one version of the source. Where one
 * of them is another now, both are dropped and the run reads everything, as the next one over groups and users does. At another instance or for another account the
 * permissions that are stored were never looked at either: nobody reads what is mirrored until it is named again.
 *
 * @returns the connector and the run as they are to be done
 */
export async function bindRun(
  store: Store,
  workspaceId: string,
  { source, config, connector, sync, authority }: Bound,
): Promise<{ connector: ConnectorRecord; sync: SyncRecord }> {
  const { connectorId, accountId } = connector;
  const origin = source.originOf?.(config) ?? null;
  const place = JSON.stringify([authority.users?.instance ?? null, origin, accountId]);
  const version = source.spec.stateVersion ?? 1;
  return store.transaction(async (tx) => {
    const { connectors, syncs, access, sourcePeople } = tx.in(workspaceId);
    const before = await connectors.findBinding(connectorId);
    if (before?.place === place && before.version === version) return { connector, sync };
    await connectors.bind(connectorId, { place, version });
    if (before === undefined) return { connector, sync };
    const isElsewhere = before.place !== place && isMirror(source.spec);
    const patch = { cursor: null, lastFullAt: null, ...(isElsewhere && { aclCheckedAt: null }) };
    await connectors.update(connectorId, patch);
    await connectors.dropState(connectorId);
    await sourcePeople.restart(connectorId);
    if (isElsewhere) await access.forgetClocks(connectorId);
    await syncs.update(sync.syncId, { mode: "full", items: null });
    return { connector: { ...connector, ...patch }, sync: { ...sync, mode: "full", items: null } };
  });
}
