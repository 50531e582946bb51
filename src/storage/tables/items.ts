import { EntityType, IndexState, TextReason } from "#api/common.ts";
import { FIELD_NAMES, type FieldsAs, perField } from "#api/item-fields.ts";
import { ITEM_KINDS, TASK_STATUSES } from "#api/item-kinds.ts";
import { table, words } from "./table.ts";

const { text, integer, instant, flag, json, oneOf, nullable, hidden } = words;

/** The column of a field, by its type; lists, people and records are JSON. */
const FIELD_COLUMNS = {
  kind: oneOf(ITEM_KINDS),
  title: text,
  status: nullable(oneOf(TASK_STATUSES)),
  text: nullable(text),
  name: nullable(text),
  path: text,
  texts: text,
  date: nullable(instant),
  number: nullable(integer),
  person: nullable(text),
  people: text,
  record: text,
};
export type FieldColumns = { [Type in keyof typeof FIELD_COLUMNS]: ReturnType<(typeof FIELD_COLUMNS)[Type]["read"]> };

const FIELDS: FieldsAs<typeof FIELD_COLUMNS> = perField(FIELD_NAMES, (_name, type) => FIELD_COLUMNS[type]);

/** Rows are read more tolerantly than these columns say: `storage/records/item-record.ts`. */
export const ITEMS = table("items", ["workspaceId", "kbId"], {
  ...FIELDS,
  kbId: text,
  connectorId: text,
  externalId: text,
  parentExternalId: nullable(text),
  providerId: text,
  source: text,
  url: nullable(text),
  version: nullable(text),
  textHash: nullable(text),
  /** UTF-16 code units of the stored text. */
  textChars: integer,
  /** JSON array of {name, level, start}. */
  sections: text,
  /** Read at another place, or by a former owner, and not since. */
  readElsewhere: flag,
  indexedAt: instant,
  indexState: oneOf(IndexState.options),
  textReason: nullable(oneOf(TextReason.options)),
  textMessage: nullable(text),
  retryAt: nullable(instant),
  /** Who may read it, parents included; 0 = no one. */
  aclId: integer,
  /** The access it names itself; null = none (its parent's), -1 = stored before children could have one, so unknown. */
  ownAclId: nullable(integer),
  /** The full run that last named it; feeds the sweep. */
  seenBy: nullable(text),
  /** Set when removed: hidden at once, restorable until it is purged. */
  removedAt: nullable(instant),
  /** Identity that survives a rename at the source (device and inode). */
  identityHint: nullable(text),
  /** Hash of everything the index holds for it apart from its access: equal = nothing to index again. */
  indexHash: nullable(text),
  /** How many secrets were taken out of its text. */
  maskedSecrets: integer,
  /** Suffix of the url that links to a line; `{line}` is replaced by its number. */
  lineAnchor: nullable(text),
  /** The externalId of the item that this one answers. */
  replyTo: nullable(text),
  /** The source's reference to its content. */
  contentRef: nullable(text),
  /** When its permissions were checked, where that differs from its connector's `aclCheckedAt`; 0 = refused. */
  ownClockAt: nullable(instant),
  /** Why they were not checked with the rest; null = they were checked separately. */
  ownClockCause: nullable(text),
  /** The run that last found this. */
  ownClockBy: nullable(text),
  /** The media type its content was read as; null = none of it was read. */
  reader: nullable(text),
  /** Version of the reader that read it. */
  readerVersion: nullable(integer),
  /** For an item read by an older reader: not read again before this time. Null = at once. */
  readAgainAt: nullable(instant),
  /** Since when its content can't be read, while the former text stays; null = the text matches the content. */
  formerSince: nullable(instant),
  /** How many more times it is read again because the time limit cut it short; null = its text is complete. */
  cutRetries: nullable(integer),
});

/** The text in chunks of about 16,000 UTF-16 code units, so that a range never loads the whole. */
export const ITEM_TEXTS = table("item_texts", ["workspaceId", "kbId", "chunk"], {
  kbId: text,
  chunk: integer,
  start: integer,
  text,
  /** The file's line it begins in, counted from 1; null where the text doesn't have the file's lines. */
  line: nullable(integer),
});

export const ENTITIES = table("entities", ["workspaceId", "entityId"], {
  entityId: text,
  type: oneOf(EntityType.options),
  /** Key that identifies the entity: a principal, `<con>:<container id>`, or a claimed name's folded form. */
  identity: text,
});

/** Entities as one item shows them; names are shown only to people who may read that item. */
export const ITEM_ENTITIES = table("item_entities", ["workspaceId", "kbId", "entityId", "role"], {
  kbId: text,
  entityId: text,
  role: text,
  name: text,
  /** Lower-cased, folded words of the name, login and email, for look-up. */
  nameKey: text,
  email: nullable(text),
  login: nullable(text),
  claimed: flag,
  /** One of the containers that the item lives in. */
  isHome: flag,
});

/** Removals of a quarter of an hour, for the guard that sums them over a day. Source: S41. */
export const REMOVAL_WINDOWS = table("removal_windows", ["workspaceId", "connectorId", "startsAt"], {
  connectorId: text,
  startsAt: instant,
  /** The highest number of living items known in it. */
  highest: integer,
  removed: integer,
});

/** Items hidden from everyone until their effective access is computed again. */
export const WITHHELD_ITEMS = table("withheld_items", ["workspaceId", "connectorId", "kbId"], {
  connectorId: text,
  kbId: text,
});

/** Former owners of connectors that still hold something read during their ownership. */
export const FORMER_OWNERS = table("former_owners", ["workspaceId", "connectorId", "userId"], {
  connectorId: text,
  userId: text,
});

/** Instants at which clocks of a connector's items are; 0 is never among them. */
export const ITEM_CLOCKS = table("item_clocks", ["workspaceId", "connectorId", "checkedAt"], {
  connectorId: text,
  checkedAt: instant,
});

/** Results of a line, as the answer reports them. */
export const PUSH_RESULTS = [
  "upserted",
  "unchanged",
  "removed",
  "held",
  "absent",
  "failed",
  "acl_unknown",
  "error",
] as const;
export type PushResultName = (typeof PUSH_RESULTS)[number];
export type PushCounts = Record<PushResultName, number>;

/** A line that was not stored as meant. */
export interface PushFailure {
  line: number | null;
  externalId: string | null;
  result: PushResultName;
  code: string;
  message: string;
}

/** Several pushes that belong together. */
export const PUSH_UPLOADS = table("push_uploads", ["workspaceId", "uploadId"], {
  uploadId: text,
  connectorId: text,
  mode: oneOf(["add", "set"]),
  name: nullable(text),
  state: oneOf(["open", "ending", "done", "superseded"]),
  /** The lines 1 to this one are stored. */
  lines: integer,
  counts: json<Partial<PushCounts>>(),
  /** The first failures; the column has its first name. */
  troubles: json<PushFailure[]>(),
  /** Refused lines that named no recognizable item: what they meant is not known. */
  unnamed: integer,
  /** While a set ends and after: whether the removal of unsent items is held, and how many were removed. */
  isHeld: flag,
  sweptItems: integer,
  createdAt: instant,
  /** The last line or document; decides when an open one expires. */
  touchedAt: instant,
  finishedAt: nullable(instant),
});

/** State that sources keep besides their cursors. */
export const SOURCE_STATE = table("source_state", ["workspaceId", "connectorId", "key"], {
  connectorId: text,
  key: text,
  /** JSON. */
  value: text,
});

/** Items whose content had another version than the one they were listed with. */
export const RELIST_ITEMS = table("relist_items", ["workspaceId", "connectorId", "externalId"], {
  connectorId: text,
  externalId: text,
  /** How many runs were asked to list it again. */
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
