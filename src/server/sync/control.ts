import type { RandomBytes } from "#server/ports/clock.ts";
import type { SourceItem } from "#server/ports/source.ts";
import type { ConnectorRecord, ConnectorState } from "#server/ports/store/connectors.ts";
import type { SyncMode, SyncRecord, SyncTrigger } from "#server/ports/store/syncs.ts";
import type { Store } from "#server/ports/store.ts";
import type { PreparedItem } from "#server/ports/store/item-writes.ts";
import { prepare, type PrepareOptions } from "./prepare.ts";
import { requestSync } from "./request.ts";
import { nextConnectorState, nextSyncState } from "./state.ts";
import type { SyncWorker } from "./worker.ts";

/** Makes an item that comes with its text, or with its bytes as `content`, ready to be stored, outside any run. */
export function makeItemPreparer(
  parts: Pick<PrepareOptions, "extractor" | "analyze" | "keepsSecrets" | "now" | "randomBytes">,
) {
  return async (
    workspaceId: string,
    connector: PrepareOptions["connector"],
    item: SourceItem,
    judge: PrepareOptions["judge"],
    content?: { bytes: Uint8Array; mimeType?: string; fileName: string },
  ): Promise<PreparedItem | undefined> => {
    // Nobody waits for longer than this for the text of one item.
    const signal = AbortSignal.timeout(60_000);
    const fetching = content && { fetchContent: async () => content };
    return (await prepare({ ...parts, workspaceId, connector, judge, signal, ...fetching }, item))?.item;
  };
}

/** The sync engine as the connector service uses it: asks inside transactions, signals after them. */
export function makeSyncControl(options: {
  now: () => number;
  randomBytes: RandomBytes;
  /** The worker of this process; absent in a process that serves only. */
  worker?: Pick<SyncWorker, "wake" | "cancel">;
}) {
  const { now, randomBytes, worker } = options;

  async function cancel(tx: Store, workspaceId: string, sync: SyncRecord): Promise<SyncRecord> {
    const state = nextSyncState(sync.state, "cancel");
    const isOver = state === "cancelled";
    const patch = { state, cancelRequestedAt: sync.cancelRequestedAt ?? now(), ...(isOver && { finishedAt: now() }) };
    await tx.in(workspaceId).syncs.update(sync.syncId, patch);
    return { ...sync, ...patch };
  }

  return {
    request: (
      tx: Store,
      workspaceId: string,
      connector: ConnectorRecord,
      wish: { trigger: SyncTrigger; mode?: SyncMode; items?: readonly string[] },
    ) => requestSync(tx, workspaceId, connector, { ...wish, now: now(), randomBytes }),
    cancel,
    async cancelAll(tx: Store, workspaceId: string, connectorId: string): Promise<SyncRecord[]> {
      const open = await tx.in(workspaceId).syncs.listOpen([connectorId]);
      const ended: SyncRecord[] = [];
      for (const sync of open) ended.push(await cancel(tx, workspaceId, sync));
      return ended;
    },
    nextState: (state: ConnectorState, event: "pause" | "resume" | "delete") => nextConnectorState(state, event),
    signal(cancelled: readonly SyncRecord[] = []) {
      for (const sync of cancelled) worker?.cancel(sync.syncId);
      worker?.wake();
    },
  };
}
