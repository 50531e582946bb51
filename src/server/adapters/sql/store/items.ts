import type { ItemStore } from "#server/ports/store/items.ts";
import type { SqlHandles } from "../handles.ts";

export function makeItemStore(_sql: SqlHandles, _workspaceId: string): ItemStore {
  return {};
}
