import type { RandomBytes } from "#core/clock.ts";
import type { HeldBytes } from "#core/spool.ts";
import type { SyncSignals } from "#core/sync-signals.ts";
import { defined } from "#core/defined.ts";
import type { Authority } from "#core/principals.ts";
import { readerVersionOf } from "#extract/registry.ts";
import type { ChildRules, Source } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import type { ConnectorRecord, ConnectorState } from "#storage/records/connectors.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { ReaderVersionOf } from "#storage/records/older-items.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import { activityOf } from "./activity.ts";
import { beginAgain, bindIn } from "#server/sync/binding.ts";
import { isMirror, nextRunOf } from "#server/sync/clocks.ts";
import { makeItemCache } from "#server/sync/run/item-cache.ts";
import { type ItemWithChildren, prepareWithChildren } from "#server/sync/items/children.ts";
import type { Room } from "#server/sync/bytes/room.ts";
import type { PrepareOptions } from "#server/sync/items/prepare.ts";
import { isReadHere } from "#server/sync/items/read-text.ts";
import { wakeWaiting } from "#server/sync/people/people-first.ts";
import { askForIdentities, requestIdentities } from "#server/sync/schedule/identity-requests.ts";
import { requestSync, type RequestedRun } from "#server/sync/schedule/request.ts";
import { nameReaders } from "#server/sync/people/named-readers.ts";
import { nextConnectorState, nextSyncState } from "#server/sync/state.ts";
import { removeHidden, hideItems } from "#server/sync/hidden-items.ts";

/** An item that includes its text, or its bytes as `content`. */
export interface ItemInput {
  item: SourceItem;
  judge: PrepareOptions["judge"];
  content?: { bytes: HeldBytes; mimeType?: string; fileName: string };
  /** The item's share of the byte budget of all runs. */
  room?: Room;
  /** Selects the files inside `content` that are read. */
  rules?: ChildRules;
}

/** The longest wait for the text of one item, including a document that contains files. */
const TEXT_MS = 60_000;
const DOCUMENT_MS = 240_000;

/**
 * Prepares an item and the files inside it for storing, outside any run. The ops replace all stored child items of this
 * item, including child items that this process hasn't read.
 *
 * @throws as `prepareWithChildren`; a `TimeoutError` when it takes too long
 */
export function makeItemPreparer({
  store,
  readerVersionOf: versionOf = readerVersionOf,
  ...deps
}: Pick<
  PrepareOptions,
  "extractor" | "analyze" | "keepsSecrets" | "readerVersionOf" | "faults" | "now" | "randomBytes"
> & {
  store: Store;
}) {
  // A timer for each line of a push would cost more than reading its text.
  const never = new AbortController().signal;
  return async (
    workspaceId: string,
    connector: PrepareOptions["connector"],
    { item, judge, content, rules, room }: ItemInput,
  ): Promise<ItemWithChildren | undefined> => {
    const { connectorId } = connector;
    const { itemWrites } = store.in(workspaceId);
    // If an older reader version read the document, everything inside it is read again.
    const readAgain = content && (await itemWrites.olderAmong(connectorId, versionOf, [item.externalId]));
    const known = readAgain && makeItemCache(itemWrites, connectorId, { readAgain });
    await known?.load([item.externalId]);
    return prepareWithChildren(
      {
        ...deps,
        readerVersionOf: versionOf,
        workspaceId,
        connector,
        judge,
        signal: isReadHere(item) ? never : AbortSignal.timeout(content ? DOCUMENT_MS : TEXT_MS),
        ...defined({ rules, room, fetchContent: content && (async () => content) }),
        storedVersion: (externalId) => known?.versionOf(externalId),
        // Other requests push at the same time: an item that had no child items a moment ago may have some now.
        hasChildren: (externalId) => externalId === item.externalId || (known?.childrenOf(externalId) ?? []).length > 0,
      },
      item,
    );
  };
}

/**
 * Makes the sync engine for the connector service. It requests runs inside transactions and sends signals after them.
 */
export function makeSyncControl(options: {
  store: Store;
  now: () => number;
  randomBytes: RandomBytes;
  /** The principals that a run of the connector may name, as stored in this transaction. */
  loadAuthority(workspace: WorkspaceStore, source: Source, connector: ConnectorRecord): Promise<Authority>;
  /** Signals to the worker in this process. */
  signals: Pick<SyncSignals, "wake" | "stop">;
  /** The version of each reader. Default: the versions in this program. */
  readerVersionOf?: ReaderVersionOf;
}) {
  const { store, now, randomBytes, loadAuthority, signals, readerVersionOf: versionOf = readerVersionOf } = options;

  async function cancel(tx: Store, workspaceId: string, sync: SyncRecord): Promise<SyncRecord> {
    const state = nextSyncState(sync.state, "cancel");
    const isOver = state === "cancelled";
    const patch = { state, cancelRequestedAt: sync.cancelRequestedAt ?? now(), ...(isOver && { finishedAt: now() }) };
    await tx.in(workspaceId).syncs.update(sync.syncId, patch);
    if (isOver && sync.mode === "identities") await wakeWaiting(tx, workspaceId, sync.connectorId, now());
    return { ...sync, ...patch };
  }

  return {
    request: (
      tx: Store,
      workspaceId: string,
      connector: ConnectorRecord,
      wish: Pick<RequestedRun, "trigger" | "mode" | "items" | "peopleSyncId">,
    ) => requestSync(tx, workspaceId, connector, { ...wish, now: now(), randomBytes }),
    async rebind(tx: Store, workspaceId: string, source: Source, connector: ConnectorRecord) {
      const authority = await loadAuthority(tx.in(workspaceId), source, connector);
      const config = source.spec.config.parse(connector.config);
      const bound = { source, config, connector, authority, now: now() };
      return (await bindIn(tx, workspaceId, bound)) ?? connector;
    },
    async invalidateReading(tx: Store, workspaceId: string, connector: ConnectorRecord) {
      const workspace = tx.in(workspaceId);
      const { connectorId } = connector;
      await workspace.itemWrites.invalidateReading(connectorId);
      return { ...connector, ...(await beginAgain(workspace, connectorId, { now: now(), isInvalid: false })) };
    },
    async hide(tx: Store, workspaceId: string, source: Source, connector: ConnectorRecord) {
      const workspace = tx.in(workspaceId);
      const { connectorId } = connector;
      const begun = await beginAgain(workspace, connectorId, { now: now(), isInvalid: isMirror(source.spec) });
      return { ...connector, ...begun, ...(await hideItems(workspace, connectorId, now())) };
    },
    async nameReaders(tx: Store, workspaceId: string, source: Source, connector: ConnectorRecord) {
      const workspace = tx.in(workspaceId);
      const authority = await loadAuthority(workspace, source, connector);
      await nameReaders(workspace, source, connector, { authority, now: now() });
    },
    removeHidden: (workspaceId: string, connectorId: string) => removeHidden({ store, now }, workspaceId, connectorId),
    /** Memberships are read as soon as a worker is free, and afterwards by schedule. */
    requestIdentities: (tx: Store, workspaceId: string, connector: ConnectorRecord) =>
      requestIdentities(tx, workspaceId, connector, { trigger: "manual", now: now(), randomBytes }),
    askForIdentities: (tx: Store, workspaceId: string, connector: ConnectorRecord, place: { isFirst?: true } = {}) =>
      askForIdentities(tx, workspaceId, connector, { ...place, now: now(), randomBytes }),
    /** Access that is set in kb changes in kb, so it needs no reading at the source. */
    readsPeopleFirst: ({ spec, syncIdentities }: Source) => syncIdentities !== undefined && isMirror(spec),
    cancel,
    async cancelAll(tx: Store, workspaceId: string, connectorId: string): Promise<SyncRecord[]> {
      const { syncs } = tx.in(workspaceId);
      const open = [...(await syncs.listOpen([connectorId])), ...(await syncs.listOpenIdentities(connectorId))];
      const ended: SyncRecord[] = [];
      for (const sync of open) ended.push(await cancel(tx, workspaceId, sync));
      return ended;
    },
    countOlder: ({ itemWrites }: Pick<WorkspaceStore, "itemWrites">, connectorId: string) =>
      itemWrites.countOlder(connectorId, versionOf),
    olderAmong: (
      { itemWrites }: Pick<WorkspaceStore, "itemWrites">,
      connectorId: string,
      externalIds: readonly string[],
    ) => itemWrites.olderAmong(connectorId, versionOf, externalIds),
    activityOf: (on: Store, workspaceId: string, connector: ConnectorRecord) =>
      activityOf(on, workspaceId, connector, now()),
    nextRunOf,
    nextState: (state: ConnectorState, event: "pause" | "resume" | "delete") => nextConnectorState(state, event),
    signal(cancelled: readonly SyncRecord[] = []) {
      signals.stop(cancelled.map(({ syncId }) => syncId));
      signals.wake();
    },
  };
}
