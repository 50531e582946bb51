import type { AuditStore } from "#server/ports/store/audit.ts";
import type { SqlHandles } from "../handles.ts";

export function makeAuditStore(_sql: SqlHandles, _workspaceId: string): AuditStore {
  return {};
}
