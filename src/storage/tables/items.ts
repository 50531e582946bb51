import { EntityType, IndexState, TextReason } from "#api/common.ts";
import { FIELD_NAMES, type FieldName, type FieldsAs, perField } from "#api/item-fields.ts";
import { ITEM_KINDS, TASK_STATUSES } from "#api/item-kinds.ts";
import { CONNECTORS } from "./connectors.ts";
import { WORKSPACES } from "./people.ts";
import { table, words } from "./table.ts";

const { text, integer, instant, flag, json, oneOf, nullable, hidden, withDefault } = words;

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

/** Columns of these fields. */
function fields<Name extends FieldName>(...names: readonly Name[]): FieldsAs<typeof FIELD_COLUMNS, Name> {
  return perField(names, (_name, type) => FIELD_COLUMNS[type]);
}

/** Rows are read more tolerantly than these columns say: `storage/item-record.ts`. */
export const ITEMS = table(
  "items",
  ["workspaceId", "kbId"],
  {
    kbId: text,
    connectorId: text,
    externalId: text,
    parentExternalId: nullable(text),
    providerId: text,
    source: text,
    ...fields("kind", "subkind", "key", "title"),
    url: nullable(text),
    ...fields("path", "mimeType", "size"),
    version: nullable(text),
    textHash: nullable(text),
    /** UTF-16 code units of the stored text. */
    textChars: integer,
    /** JSON array of {name, level, start}. */
    sections: text,
    ...fields("status", "priority", "labels", "fields", "author", "assignees", "createdAt", "updatedAt", "dueAt"),
    indexedAt: instant,
    indexState: oneOf(IndexState.options),
    textReason: nullable(oneOf(TextReason.options)),
    textMessage: nullable(text),
    retryAt: nullable(instant),
    /** Who may read it, parents included; 0 = no one. */
    aclId: integer,
    /** The full run that last named it; feeds the sweep. */
    seenBy: nullable(text),
    /** Set when removed: hidden at once, restorable until it is purged. */
    removedAt: nullable(instant),
    /** Identity that survives a rename at the source (device and inode). */
    identityHint: nullable(text),
    /** Hash of everything the index holds for it apart from its access: equal = nothing to index again. */
    indexHash: nullable(text),
    /** How many secrets were taken out of its text. */
    maskedSecrets: withDefault(integer, 0),
    /** Suffix of the url that links to a line; `{line}` is replaced by its number. */
    lineAnchor: nullable(text),
    /** The access it names itself; null = none (its parent's), -1 = stored before children could have one, so unknown. */
    ownAclId: nullable(integer),
    /** When its permissions were checked, where that differs from its connector's `aclCheckedAt`; 0 = refused. */
    ownClockAt: nullable(instant),
    /** Why they were not checked with the rest; null = they were checked separately. */
    ownClockCause: nullable(text),
    /** The run that last found this. */
    ownClockBy: nullable(text),
    /** The externalId of the item that this one answers. */
    replyTo: nullable(text),
    /** The source's reference to its content. */
    contentRef: nullable(text),
    /** The media type its content was read as; null = none of it was read. */
    reader: nullable(text),
    /** Version of the reader that read it. */
    readerVersion: nullable(integer),
    /** For an item read by an older reader: not read again before this time. Null = at once. */
    readAgainAt: nullable(instant),
    /** Read at another place, or by a former owner, and not since. */
    readElsewhere: withDefault(flag, 0),
    /** Since when its content can't be read, while the former text stays; null = the text matches the content. */
    formerSince: nullable(instant),
    /** How many more times it is read again because the time limit cut it short; null = its text is complete. */
    cutRetries: nullable(integer),
    // A field that isn't above has its column at the end.
    ...fields(...FIELD_NAMES),
  },
  {
    deletedWith: [WORKSPACES, CONNECTORS],
    unique: [["workspaceId", "connectorId", "externalId"]],
    indexes: {
      items_by_url: ["workspaceId", "url"],
      items_by_key: ["workspaceId", "key"],
      // Lists walk and count living items without reading a row: each of these three holds every column they use. SQLite
      // reads the row if `removedAt` isn't in the index. Earlier than at the end, it takes "not removed" for the rarer
      // condition and prefers these to the keys.
      items_by_updated: ["workspaceId", "updatedAt", "kbId", "aclId", "removedAt"],
      items_by_title: ["workspaceId", "lower(title)", "kbId", "aclId", "removedAt"],
      items_by_place: ["workspaceId", "connectorId", "source", "kind", "indexState", "aclId", "removedAt"],
      // Few items are in the others, so looking for them costs nothing where there are none.
      items_by_parent: {
        columns: ["workspaceId", "connectorId", "parentExternalId"],
        where: '"parentExternalId" is not null',
      },
      items_by_hint: { columns: ["workspaceId", "connectorId", "identityHint"], where: '"identityHint" is not null' },
      items_removed: { columns: ["removedAt"], where: '"removedAt" is not null' },
      items_masked: {
        columns: ["workspaceId", "connectorId", "maskedSecrets"],
        where: '"maskedSecrets" > 0 and "removedAt" is null',
      },
      items_by_own_access: {
        columns: ["workspaceId", "kbId", "ownAclId"],
        where: '"parentExternalId" is not null and "ownAclId" is not null',
      },
      items_by_own_clock: {
        columns: ["workspaceId", "connectorId", "ownClockAt", "kbId"],
        where: '"ownClockAt" is not null',
      },
      // With `removedAt` living items are counted without reading a row.
      items_by_reader: {
        columns: ["workspaceId", "connectorId", "reader", "readerVersion", "removedAt"],
        where: '"reader" is not null',
      },
      items_read_elsewhere: {
        columns: ["workspaceId", "connectorId", "externalId"],
        where: '"readElsewhere" = 1 and "removedAt" is null',
      },
      items_by_former: { columns: ["formerSince"], where: '"formerSince" is not null' },
      items_by_cut: { columns: ["workspaceId", "connectorId"], where: '"cutRetries" > 0' },
    },
  },
);

/** The text in chunks of about 16,000 UTF-16 code units, so that a range never loads the whole. */
export const ITEM_TEXTS = table(
  "item_texts",
  ["workspaceId", "kbId", "chunk"],
  {
    kbId: text,
    chunk: integer,
    start: integer,
    text,
    /** The file's line it begins in, counted from 1; null where the text doesn't have the file's lines. */
    line: nullable(integer),
  },
  { deletedWith: [WORKSPACES, ITEMS] },
);

export const ENTITIES = table(
  "entities",
  ["workspaceId", "entityId"],
  {
    entityId: text,
    type: oneOf(EntityType.options),
    /** Key that identifies the entity: a principal, `<con>:<container id>`, or a claimed name's folded form. */
    identity: text,
  },
  { deletedWith: [WORKSPACES], unique: [["workspaceId", "type", "identity"]] },
);

/** Entities as one item shows them; names are shown only to people who may read that item. */
export const ITEM_ENTITIES = table(
  "item_entities",
  ["workspaceId", "kbId", "entityId", "role"],
  {
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
    isHome: withDefault(flag, 0),
  },
  {
    deletedWith: [WORKSPACES, ITEMS],
    indexes: {
      item_entities_by_entity: ["workspaceId", "entityId"],
      item_entities_by_name: ["workspaceId", "nameKey", "entityId", "kbId"],
      item_entities_homes: { columns: ["workspaceId", "entityId", "kbId"], where: '"isHome" = 1' },
      // People are found by the email address that items show.
      item_entities_by_email: {
        columns: ["workspaceId", "lower(email)", "nameKey", "entityId"],
        where: '"email" is not null',
      },
    },
  },
);

/** Removals of a quarter of an hour, for the guard that sums them over a day. Source: S41. */
export const REMOVAL_WINDOWS = table(
  "removal_windows",
  ["workspaceId", "connectorId", "startsAt"],
  {
    connectorId: text,
    startsAt: instant,
    /** The highest number of living items known in it. */
    highest: integer,
    removed: integer,
  },
  { deletedWith: [WORKSPACES, CONNECTORS] },
);

/**
 * Items hidden from everyone until their effective access is computed again. Not deleted with anything: thousands of rows
 * come in one transaction, and the writer drops those whose items are gone.
 */
export const WITHHELD_ITEMS = table(
  "withheld_items",
  ["workspaceId", "connectorId", "kbId"],
  {
    connectorId: text,
    kbId: text,
  },
  { withoutRowid: true },
);

/** Former owners of connectors that still hold something read during their ownership. */
export const FORMER_OWNERS = table(
  "former_owners",
  ["workspaceId", "userId", "connectorId"],
  {
    connectorId: text,
    userId: text,
  },
  { withoutRowid: true, deletedWith: [CONNECTORS] },
);

/** Instants at which clocks of a connector's items are; 0 is never among them. */
export const ITEM_CLOCKS = table(
  "item_clocks",
  ["workspaceId", "connectorId", "checkedAt"],
  {
    connectorId: text,
    checkedAt: instant,
  },
  { withoutRowid: true, deletedWith: [CONNECTORS] },
);

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
export const PUSH_UPLOADS = table(
  "push_uploads",
  ["workspaceId", "uploadId"],
  {
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
  },
  {
    deletedWith: [CONNECTORS],
    indexes: {
      push_uploads_by_connector: ["workspaceId", "connectorId", "touchedAt"],
      // Read with every batch of pushed items: the open set.
      push_uploads_open_sets: {
        columns: ["workspaceId", "connectorId"],
        where: `"mode" = 'set' and "state" in ('open', 'ending')`,
      },
    },
  },
);

/** State that sources keep besides their cursors. */
export const SOURCE_STATE = table(
  "source_state",
  ["workspaceId", "connectorId", "key"],
  {
    connectorId: text,
    key: text,
    /** JSON. */
    value: text,
  },
  { deletedWith: [CONNECTORS] },
);

/** Items whose content had another version than the one they were listed with. */
export const RELIST_ITEMS = table(
  "relist_items",
  ["workspaceId", "connectorId", "externalId"],
  {
    connectorId: text,
    externalId: text,
    /** How many runs were asked to list it again. */
    tries: integer,
  },
  { deletedWith: [CONNECTORS] },
);

/** Items whose removal waits for approval. */
export const REMOVALS = table(
  "removals",
  ["workspaceId", "kbId"],
  {
    connectorId: hidden(text),
    kbId: text,
    /** The run that missed it; null = a push. */
    syncId: nullable(text),
    heldAt: instant,
  },
  { deletedWith: [WORKSPACES, CONNECTORS] },
);
