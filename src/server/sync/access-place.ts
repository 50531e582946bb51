import { z } from "zod";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { WorkspaceStore } from "#storage/store.ts";

/** Beside what a source keeps, whose keys are no such text. */
const KEY = "\u0000access";
const Place = z.object({ runId: z.string(), cursor: z.unknown() });

/** What is stored of how far a run of mode `access` came, whose cursor is none of the connector's feed. */
export function accessPlace(runId: string, cursorJson: string): Record<string, string> {
  return { [KEY]: `{"runId":${JSON.stringify(runId)},"cursor":${cursorJson}}` };
}

/** Where another attempt of the same run ended. */
export async function accessPlaceOf({
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
