import type { ConnectorStore } from "#server/ports/store/connectors.ts";
import type { SqlHandles } from "../handles.ts";

export function makeConnectorStore(_sql: SqlHandles, _workspaceId: string): ConnectorStore {
  return {};
}
