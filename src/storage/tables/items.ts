import { table, words } from "./table.ts";

const { text, integer, instant, nullable, hidden } = words;

/** What sources keep besides their cursors. */
export const SOURCE_STATE = table("source_state", ["workspaceId", "connectorId", "key"], {
  connectorId: text,
  key: text,
  /** JSON. */
  value: text,
});

/** Items whose content was of another version than the one they were listed with. */
export const RELIST_ITEMS = table("relist_items", ["workspaceId", "connectorId", "externalId"], {
  connectorId: text,
  externalId: text,
  /** How many runs were asked to list it. */
  tries: integer,
});

/** Items whose removal waits for approval. */
export const REMOVALS = table("removals", ["workspaceId", "connectorId", "kbId"], {
  connectorId: hidden(text),
  kbId: text,
  /** The run that missed it; null = a push. */
  syncId: nullable(text),
  heldAt: instant,
});
