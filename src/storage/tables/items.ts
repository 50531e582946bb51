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

/** Its rows are read with more tolerance than by these words: `storage/records/item-record.ts`. */
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
  /** It was read at another place, or by a former owner, and not since. */
  readElsewhere: flag,
  indexedAt: instant,
  indexState: oneOf(IndexState.options),
  textReason: nullable(oneOf(TextReason.options)),
  textMessage: nullable(text),
  retryAt: nullable(instant),
  /** Who may read it, parents counted in; 0 = nobody. */
  aclId: integer,
  /** The access it names itself; null = none (its parent's), -1 = not known since children may have one. */
  ownAclId: nullable(integer),
  /** The full run that last named it; feeds the sweep. */
  seenBy: nullable(text),
  /** Set when removed: hidden at once, restorable until it is purged. */
  removedAt: nullable(instant),
  /** What stays the same when it is renamed at its source (device and inode). */
  identityHint: nullable(text),
  /** Hash of everything the index holds of it apart from its access: equal = nothing to index again. */
  indexHash: nullable(text),
  /** How many secrets were taken out of its text. */
  maskedSecrets: integer,
  /** What leads to a line when it stands after the url; `{line}` stands for its number. */
  lineAnchor: nullable(text),
  /** The externalId of the item that this one answers. */
  replyTo: nullable(text),
  /** What its source finds its content by. */
  contentRef: nullable(text),
  /** When its permissions were looked at, where that is not its connector's `aclCheckedAt`; 0 = refused. */
  ownClockAt: nullable(instant),
  /** Why they were not looked at with the rest; null = they were looked at by themselves. */
  ownClockCause: nullable(text),
  /** The run that last found so. */
  ownClockBy: nullable(text),
  /** The media type as which its content was read; null = nothing of it was read. */
  reader: nullable(text),
  /** The version of what read it. */
  readerVersion: nullable(integer),
  /** While an older reader has read it: not read again before then. Null = at once. */
  readAgainAt: nullable(instant),
  /** Since when its content can't be read, while the former text stays; null = the text is that of the content. */
  formerSince: nullable(instant),
  /** How often it is still read again because its time was over before its end; null = its text is whole. */
  cutRetries: nullable(integer),
});

/** The text in chunks of about 16,000 UTF-16 code units, so that a range never loads the whole. */
export const ITEM_TEXTS = table("item_texts", ["workspaceId", "kbId", "chunk"], {
  kbId: text,
  chunk: integer,
  start: integer,
  text,
  /** The file's line it begins in, counted from 1; null where the text has not the file's lines. */
  line: nullable(integer),
});

export const ENTITIES = table("entities", ["workspaceId", "entityId"], {
  entityId: text,
  type: oneOf(EntityType.options),
  /** What makes it the same entity: a principal, `<con>:<container id>`, or a claimed name's folded form. */
  identity: text,
});

/** Entities as one item shows them; names are told only to who may read that item. */
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

/** Items that nobody may read until their effective access is computed again. */
export const WITHHELD_ITEMS = table("withheld_items", ["workspaceId", "connectorId", "kbId"], {
  connectorId: text,
  kbId: text,
});

/** People whose a connector was, while something in it is still what was read by then. */
export const FORMER_OWNERS = table("former_owners", ["workspaceId", "connectorId", "userId"], {
  connectorId: text,
  userId: text,
});

/** Instants that clocks of items of a connector stand at; 0 is never among them. */
export const ITEM_CLOCKS = table("item_clocks", ["workspaceId", "connectorId", "checkedAt"], {
  connectorId: text,
  checkedAt: instant,
});

/** What became of a line, as its answer says it. */
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

/** A line that was not taken as it was meant. */
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
  /** Lines that were refused and named no item that could be told: what they meant is not known. */
  unnamed: integer,
  /** While a set ends and after: whether what was not sent is held, and how much went. */
  isHeld: flag,
  sweptItems: integer,
  createdAt: instant,
  /** The last line or document; decides when an open one expires. */
  touchedAt: instant,
  finishedAt: nullable(instant),
});

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
