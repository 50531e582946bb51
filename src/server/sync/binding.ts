import type { Authority } from "#core/principals.ts";
import { originOf, type Source } from "#sources/contract.ts";
import type { Binding } from "#storage/records/connectors.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import { isMirror } from "./clocks.ts";

interface Bound {
  source: Source;
  config: unknown;
  connector: ConnectorRecord;
  authority: Pick<Authority, "users">;
  now: number;
}

/**
 * Binds a connector's cursor and state to one account of one instance with its granted scopes, and to one version of
 * the source. When any of these changes, the cursor and the state are dropped and everything is read again, including
 * groups and users. If the instance or the account changed, the stored permissions were never checked for it, so no one
 * can read mirrored items until the new account's run names them again. See docs/decisions/0032-whose-cursor-it-is.md.
 *
 * @returns the updated connector; undefined if nothing changed
 */
export async function bind(store: Store, workspaceId: string, bound: Bound): Promise<ConnectorRecord | undefined> {
  return store.transaction((tx) => bindIn(tx, workspaceId, bound));
}

/**
 * Same as `bind`, in the caller's transaction: the change and the hiding of mirrored items commit together, before any
 * run begins.
 */
export async function bindIn(tx: Store, workspaceId: string, bound: Bound): Promise<ConnectorRecord | undefined> {
  const { source, connector, now } = bound;
  const { connectorId } = connector;
  const workspace = tx.in(workspaceId);
  const before = await workspace.connectors.findBinding(connectorId);
  const after = await bindingOf(workspace, bound);
  const change = before && changeOf(before, after);
  await workspace.connectors.bind(connectorId, after);
  if (change === undefined) return undefined;
  return {
    ...connector,
    ...(await beginAgain(workspace, connectorId, { now, isInvalid: change === "place" && isMirror(source.spec) })),
  };
}

/** Same as `bind`, for a run that reads items. The run reads everything if anything changed. */
export async function bindRun(
  store: Store,
  workspaceId: string,
  { sync, ...bound }: Bound & { sync: SyncRecord },
): Promise<{ connector: ConnectorRecord; sync: SyncRecord }> {
  const connector = await bind(store, workspaceId, bound);
  if (!connector) return { connector: bound.connector, sync };
  const all = { mode: "full", items: null } as const;
  await store.in(workspaceId).syncs.update(sync.syncId, all);
  return { connector, sync: { ...sync, ...all } };
}

/**
 * Drops the position that the next run would resume from. With `isInvalid`, no one can read mirrored items until a run
 * names them again, and no stored group or user is used until it is reported again. Call it in a transaction.
 *
 * @returns the changes to the connector
 */
export async function beginAgain(
  { connectors, sourcePeople, access }: WorkspaceStore,
  connectorId: string,
  { now, isInvalid }: { now: number; isInvalid: boolean },
): Promise<Pick<ConnectorRecord, "cursor" | "lastFullAt"> & Partial<Pick<ConnectorRecord, "aclCheckedAt">>> {
  const patch = { cursor: null, lastFullAt: null, ...(isInvalid && { aclCheckedAt: null }) };
  await connectors.update(connectorId, patch);
  await connectors.dropState(connectorId);
  if (isInvalid) {
    await sourcePeople.invalidate(connectorId);
    await connectors.believeFrom(connectorId, now + 1);
    await access.forgetClocks(connectorId);
  } else await sourcePeople.restart(connectorId);
  return patch;
}

async function bindingOf(
  { connectors }: WorkspaceStore,
  { source, config, connector: { connectorId, accountId }, authority }: Bound,
): Promise<Binding> {
  const checked = await connectors.findAccount(connectorId);
  const credentials = await connectors.findCredentials(connectorId);
  return {
    place: JSON.stringify([authority.users?.instance ?? null, originOf(source, config) ?? null, accountId]),
    account: checked?.accountId ?? null,
    scopes: checked?.scopes ?? null,
    credentials: credentials ? `${credentials.givenAt} ${credentials.givenBy}` : "",
    version: source.spec.stateVersion ?? 1,
  };
}

/**
 * Returns `place` for another instance or another account, `credentials` for credentials that may belong to another
 * account or have other scopes.
 */
function changeOf(before: Binding, after: Binding): "place" | "credentials" | undefined {
  const differs = (key: "account" | "scopes" | "credentials") =>
    before[key] !== null && after[key] !== null && before[key] !== after[key];
  if (before.place !== after.place || differs("account")) return "place";
  const isSameAccount = before.account !== null && before.account === after.account;
  const isOther = before.version !== after.version || differs("scopes") || (differs("credentials") && !isSameAccount);
  return isOther ? "credentials" : undefined;
}
