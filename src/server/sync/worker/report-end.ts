import { isoOf, isoOrNull } from "#core/instant.ts";
import type { Emit } from "#server/events/outbox.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store } from "#storage/records/store.ts";

/**
 * Emits the event of a run's end to the workspace's systems, in the transaction of the end. A cancelled run emits
 * nothing.
 */
export async function reportEnd(
  emit: Emit | undefined,
  tx: Store,
  workspaceId: string,
  { connectorId, providerId }: Pick<ConnectorRecord, "connectorId" | "providerId">,
  syncId: string,
): Promise<void> {
  const sync = await tx.in(workspaceId).syncs.find(syncId);
  if (!emit || !sync || sync.finishedAt === null) return;
  const { mode, trigger, counts, problem, state } = sync;
  const data = {
    connectorId,
    providerId,
    syncId,
    mode,
    trigger,
    counts,
    startedAt: isoOrNull(sync.startedAt),
    finishedAt: isoOf(sync.finishedAt),
  };
  if (state === "failed") {
    await emit(tx, workspaceId, { type: "sync.failed", data: { ...data, code: problem?.code ?? "source_error" } });
  } else if (state === "succeeded" || state === "partial") {
    const code = problem?.code ?? null;
    await emit(tx, workspaceId, { type: "sync.finished", data: { ...data, state, code } });
  }
}
