import { z } from "./route.ts";

/** Actions on an existing connector. `docs/permissions.md` lists who may perform them; the server reports which of them you may perform. */
export const CONNECTOR_ACTS = [
  "rename",
  "schedule",
  "sync",
  "pause",
  "resume",
  "delete",
  "narrow_access",
  "widen_access",
  "narrow_scope",
  "widen_scope",
  "configure",
  "reconnect",
  "browse",
  "decide_removals",
  "restore",
  "webhook",
  "link_people",
  "rotate_key",
  "end_keys",
  "take_over",
] as const;

export const ConnectorAct = z.enum(CONNECTOR_ACTS);
export type ConnectorAct = z.infer<typeof ConnectorAct>;
