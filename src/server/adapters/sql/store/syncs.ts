import type { SyncStore } from "#server/ports/store/syncs.ts";
import type { SqlHandles } from "../handles.ts";

export function makeSyncStore(_sql: SqlHandles, _workspaceId: string): SyncStore {
  return {};
}
