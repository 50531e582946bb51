import { EntityType, IndexState, TextReason } from "#api/common.ts";
import { FIELD_NAMES, type FieldName, type FieldsAs, perField } from "#api/item-fields.ts";
import { ITEM_KINDS, TASK_STATUSES } from "#api/item-kinds.ts";
import { CONNECTORS } from "./connectors.ts";
import { WORKSPACES } from "./people.ts";
import { table, words } from "./table.ts";

const { text, integer, instant, flag, json, oneOf, nullable, hidden, withDefault } = words;

/** The column of a field, by the field's type. Lists, people and records are stored as JSON. */
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

/** Returns the columns of these fields. */
function fields<Name extends FieldName>(...names: readonly Name[]): FieldsAs<typeof FIELD_COLUMNS, Name> {
  return perField(names, (_name, type) => FIELD_COLUMNS[type]);
}

/** Rows are read more tolerantly than these columns require; see `storage/item-record.ts`. */
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
    /** Who may read the item, parents included; 0 = no one. */
    aclId: integer,
    /** The full run that last listed the item; used by the sweep. */
    seenBy: nullable(text),
    /** Set when the item was removed. It is then hidden at once, and can be restored until it is purged. */
    removedAt: nullable(instant),
    /** An identity that survives a rename at the source (device and inode). */
    identityHint: nullable(text),
    /** Hash of the item's index data without its access. If it is the same, nothing has to be indexed again. */
    indexHash: nullable(text),
    /** The number of secrets that were masked in its text. */
    maskedSecrets: withDefault(integer, 0),
    /** Suffix that makes a link to a line of the item's url; `{line}` is replaced by the line's number. */
    lineAnchor: nullable(text),
    /**
     * The access that the item names itself; null = none (its parent's applies), -1 = stored before children could have
     * one, so unknown.
     */
    ownAclId: nullable(integer),
    /** When its permissions were checked, if that differs from its connector's `aclCheckedAt`; 0 = refused. */
    ownClockAt: nullable(instant),
    /** Why they were not checked with the rest; null = they were checked separately. */
    ownClockCause: nullable(text),
    /** The run that last recorded this cause. */
    ownClockBy: nullable(text),
    /** The externalId of the item to which this one replies. */
    replyTo: nullable(text),
    /** The source's reference to its content. */
    contentRef: nullable(text),
    /** The media type as which its content was read; null = none of it was read. */
    reader: nullable(text),
    /** The version of the reader that read its content. */
    readerVersion: nullable(integer),
    /** For an item that an older reader read: it isn't read again before this time. Null = it may be read at once. */
    readAgainAt: nullable(instant),
    /** 1 = the item was last read at another place, or for a former owner. */
    readElsewhere: withDefault(flag, 0),
    /** When the content became unreadable, while the former text stays; null = the text matches the content. */
    formerSince: nullable(instant),
    /** How often the item is still read again because the time limit cut it short; null = its text is complete. */
    cutRetries: nullable(integer),
    // A field that isn't listed above has its column at the end.
    ...fields(...FIELD_NAMES),
  },
  {
    deletedWith: [WORKSPACES, CONNECTORS],
    unique: [["workspaceId", "connectorId", "externalId"]],
    indexes: {
      items_by_url: ["workspaceId", "url"],
      items_by_key: ["workspaceId", "key"],
      // Lists walk and count living items without reading a row, because each of these three indexes contains every
      // column that they use. SQLite reads the row if `removedAt` isn't in the index. If `removedAt` isn't at the end,
      // SQLite considers "not removed" the rarer condition and prefers these indexes to the keys.
      items_by_updated: ["workspaceId", "updatedAt", "kbId", "aclId", "removedAt"],
      items_by_title: ["workspaceId", "lower(title)", "kbId", "aclId", "removedAt"],
      items_by_place: ["workspaceId", "connectorId", "source", "kind", "indexState", "aclId", "removedAt"],
      // The other indexes contain few items, so a look-up that finds nothing costs nothing.
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
      // With `removedAt`, living items are counted without reading a row.
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

/** The text in chunks of about 16,000 UTF-16 code units, so that reading a range never loads the whole text. */
export const ITEM_TEXTS = table(
  "item_texts",
  ["workspaceId", "kbId", "chunk"],
  {
    kbId: text,
    chunk: integer,
    start: integer,
    text,
    /**
     * The file's line in which the chunk begins, counted from 1; null if the lines of the text aren't those of the
     * file.
     */
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
    /**
     * The key that identifies the entity: a principal, `<con>:<container id>`, or the folded form of a claimed name.
     */
    identity: text,
  },
  { deletedWith: [WORKSPACES], unique: [["workspaceId", "type", "identity"]] },
);

/** Entities as one item shows them. Names are shown only to people who may read that item. */
export const ITEM_ENTITIES = table(
  "item_entities",
  ["workspaceId", "kbId", "entityId", "role"],
  {
    kbId: text,
    entityId: text,
    role: text,
    name: text,
    /** Lower-cased, folded words of the name, login and email, for look-ups. */
    nameKey: text,
    email: nullable(text),
    login: nullable(text),
    claimed: flag,
    /** 1 = one of the containers in which the item is. */
    isHome: withDefault(flag, 0),
  },
  {
    deletedWith: [WORKSPACES, ITEMS],
    indexes: {
      item_entities_by_entity: ["workspaceId", "entityId"],
      item_entities_by_name: ["workspaceId", "nameKey", "entityId", "kbId"],
      item_entities_homes: { columns: ["workspaceId", "entityId", "kbId"], where: '"isHome" = 1' },
      // Finds people by the email address that items show.
      item_entities_by_email: {
        columns: ["workspaceId", "lower(email)", "nameKey", "entityId"],
        where: '"email" is not null',
      },
    },
  },
);

/** Removals per quarter of an hour, which the guard sums over a day. Source: S41. */
export const REMOVAL_WINDOWS = table(
  "removal_windows",
  ["workspaceId", "connectorId", "startsAt"],
  {
    connectorId: text,
    startsAt: instant,
    /** The highest number of living items in this quarter of an hour. */
    highest: integer,
    removed: integer,
  },
  { deletedWith: [WORKSPACES, CONNECTORS] },
);

/**
 * Items that are hidden from everyone until their effective access is computed again. Rows aren't deleted with their
 * items: thousands come in one transaction, and the writer drops the rows of items that no longer exist.
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

/** Former owners of connectors that still hold something that was read during their ownership. */
export const FORMER_OWNERS = table(
  "former_owners",
  ["workspaceId", "userId", "connectorId"],
  {
    connectorId: text,
    userId: text,
  },
  { withoutRowid: true, deletedWith: [CONNECTORS] },
);

/** Instants that are the clocks of some of a connector's items; 0 is never among them. */
export const ITEM_CLOCKS = table(
  "item_clocks",
  ["workspaceId", "connectorId", "checkedAt"],
  {
    connectorId: text,
    checkedAt: instant,
  },
  { withoutRowid: true, deletedWith: [CONNECTORS] },
);

/** The results of a line, as the answer reports them. */
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

/** A line that was not stored as its sender meant it. */
export interface PushFailure {
  line: number | null;
  externalId: string | null;
  result: PushResultName;
  code: string;
  message: string;
}

/** Uploads: several pushes that belong together. */
export const PUSH_UPLOADS = table(
  "push_uploads",
  ["workspaceId", "uploadId"],
  {
    uploadId: text,
    connectorId: text,
    mode: oneOf(["add", "set"]),
    name: nullable(text),
    state: oneOf(["open", "ending", "done", "superseded"]),
    /** The lines from 1 to this one are stored. */
    lines: integer,
    counts: json<Partial<PushCounts>>(),
    /** The first failures; the column still has its original name. */
    troubles: json<PushFailure[]>(),
    /** The number of refused lines that named no recognizable item, so it is unknown which item they meant. */
    unnamed: integer,
    /** During and after the end of a set: whether the removal of unsent items is held, and how many were removed. */
    isHeld: flag,
    sweptItems: integer,
    createdAt: instant,
    /** When the last line or document arrived, which decides when an open upload expires. */
    touchedAt: instant,
    finishedAt: nullable(instant),
  },
  {
    deletedWith: [CONNECTORS],
    indexes: {
      push_uploads_by_connector: ["workspaceId", "connectorId", "touchedAt"],
      // The open set is read with every batch of pushed items.
      push_uploads_open_sets: {
        columns: ["workspaceId", "connectorId"],
        where: `"mode" = 'set' and "state" in ('open', 'ending')`,
      },
    },
  },
);

/** State that sources keep in addition to their cursors. */
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

/** Items whose content had another version than the listed one. */
export const RELIST_ITEMS = table(
  "relist_items",
  ["workspaceId", "connectorId", "externalId"],
  {
    connectorId: text,
    externalId: text,
    /** How many runs were asked to list the item again. */
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
    /** The run that didn't list the item; null = a push. */
    syncId: nullable(text),
    heldAt: instant,
  },
  { deletedWith: [WORKSPACES, CONNECTORS] },
);
