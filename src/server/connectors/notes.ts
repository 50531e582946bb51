import { cleanLine } from "#api/clean.ts";
import type { Policy } from "#server/access/policy.ts";
import type { Actor } from "#server/ports/actor.ts";
import type { Clock } from "#server/ports/clock.ts";
import type { ConnectorRecord } from "#server/ports/store/connectors.ts";
import type { SyncRecord } from "#server/ports/store/syncs.ts";
import type { WorkspaceStore } from "#server/ports/store.ts";

const STALE_MS = 24 * 3_600_000;
const NAME_CHARS = 80;

/**
 * Sentences about connectors that the actor is let in to and that are not complete: to be reconnected, failing, still
 * being indexed, or not synced for a day. The worst first. Source: B17.
 */
export function makeConnectorNotes({ policy, clock }: { policy: Pick<Policy, "readList">; clock: Clock }) {
  return (actor: Actor): Promise<string[]> =>
    policy.readList(actor, async ({ store, viewer }) => {
      const held = new Set(viewer.principals);
      const connectors = (await store.connectors.list()).filter(
        ({ connectorId, state }) => state !== "deleting" && held.has(`group:connector:${connectorId}`),
      );
      const syncs = await syncsOf(
        store,
        connectors.map(({ connectorId }) => connectorId),
      );
      const notes = connectors.flatMap((connector) => noteOf(connector, syncs, clock.now()));
      return notes.sort((a, b) => a.rank - b.rank).map(({ text }) => text);
    });
}

interface Syncs {
  open: Map<string, SyncRecord>;
  last: Map<string, SyncRecord>;
}

async function syncsOf(store: WorkspaceStore, connectorIds: string[]): Promise<Syncs> {
  const byConnector = (syncs: SyncRecord[]) => new Map(syncs.map((sync) => [sync.connectorId, sync]));
  return {
    open: byConnector(await store.syncs.listOpen(connectorIds)),
    last: byConnector(await store.syncs.listLast(connectorIds)),
  };
}

function noteOf(connector: ConnectorRecord, { open, last }: Syncs, now: number): { rank: number; text: string }[] {
  const name = cleanLine(connector.name, NAME_CHARS);
  if (connector.state === "needs_reauth") return [{ rank: 0, text: `"${name}" must be reconnected by its owner.` }];
  if (connector.state === "error") return [{ rank: 1, text: `"${name}" can't be synced; answers may be out of date.` }];
  const running = open.get(connector.connectorId);
  if (running && connector.lastFullAt === null) {
    return [{ rank: 2, text: `"${name}" is still being indexed${shareOf(running)}; answers may be incomplete.` }];
  }
  const finishedAt = last.get(connector.connectorId)?.finishedAt ?? null;
  const isStale = connector.everyMinutes !== null && finishedAt !== null && now - finishedAt > STALE_MS;
  return isStale ? [{ rank: 3, text: `"${name}" was last synced ${hours(now - finishedAt)} hours ago.` }] : [];
}

function shareOf({ progress: { done, total } }: SyncRecord): string {
  return total === null || total === 0 ? "" : ` (${Math.min(99, Math.floor((done / total) * 100))} %)`;
}

function hours(ms: number): number {
  return Math.floor(ms / 3_600_000);
}
