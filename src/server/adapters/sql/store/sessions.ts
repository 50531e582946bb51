import type { SessionStore } from "#server/ports/store/sessions.ts";
import type { SqlHandles } from "../handles.ts";

export function makeSessionStore(_sql: SqlHandles): SessionStore {
  return {};
}
