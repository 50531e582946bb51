import { z } from "zod";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";

/** This key can't clash with the keys of a source's own state, which never contain NUL. */
const KEY = "\u0000access";
const Place = z.object({ runId: z.string(), cursor: z.unknown() });

/**
 * Returns the state that stores the position of a run of mode `access`. Its cursor isn't a position in the connector's
 * feed.
 */
export function accessCursor(runId: string, cursorJson: string): Record<string, string> {
  return { [KEY]: `{"runId":${JSON.stringify(runId)},"cursor":${cursorJson}}` };
}

/** Returns the position where another attempt of the same run ended. */
export async function findAccessCursor({
  store,
  connector,
  sync,
}: {
  store: Pick<WorkspaceStore, "itemWrites">;
  connector: Pick<ConnectorRecord, "connectorId">;
  sync: Pick<SyncRecord, "syncId">;
}): Promise<unknown> {
  const text = await store.itemWrites.findState(connector.connectorId, KEY);
  const kept = Place.safeParse(JSON.parse(text ?? "null")).data;
  return kept?.runId === sync.syncId ? kept.cursor : null;
}
