import type { EntityStore } from "#server/ports/store/entities.ts";
import type { SqlHandles } from "../handles.ts";

export function makeEntityStore(_sql: SqlHandles, _workspaceId: string): EntityStore {
  return {};
}
