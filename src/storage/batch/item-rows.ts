import { FIELD_NAMES, type FieldName } from "#api/item-fields.ts";
import type { ItemFacts } from "#core/item-facts.ts";
import { AFTER_CHILDREN, CHILD_MARK } from "#core/child-ids.ts";
import { countLineFeeds } from "#text/sections.ts";
import { readNumbers, type SqliteConnection, type SqlValue } from "#storage/sqlite.ts";
import type { ItemEntity, PreparedItem } from "#storage/item-batch.ts";

/** Stored fields that a batch reads before it changes an item. */
export interface KnownItem {
  kbId: string;
  externalId: string;
  parentExternalId: string | null;
  version: string | null;
  textHash: string | null;
  textReason: string | null;
  textMessage: string | null;
  /** When the content became unreadable, while the former text stays. */
  formerSince: number | null;
  indexHash: string | null;
  indexState: string;
  /** The item's effective access, parents included; 0 = no one. */
  aclId: number;
  /**
   * The item's own access; null = none, `UNTOLD_ACCESS` = unknown, because the item was stored before child items could
   * have one.
   */
  ownAclId: number | null;
  ownClockAt: number | null;
  ownClockCause: string | null;
  ownClockBy: string | null;
  seenBy: string | null;
  /** 1 = the item was last read at another place, or for a former owner. */
  readElsewhere: number;
  removedAt: number | null;
  reader: string | null;
  readerVersion: number | null;
  /** How often the item is still read again because the time limit cut its text; null = the text is complete. */
  cutRetries: number | null;
}

/** Whether the item exists: it is stored and not removed. */
export function isLiving<Item extends Pick<KnownItem, "removedAt">>(item: Item | undefined): item is Item {
  return item !== undefined && item.removedAt === null;
}

/**
 * Code units per stored chunk of text. With this size, reading a range of a long text loads little, and a short text is
 * one row.
 */
const CHUNK_CHARS = 16_384;

const KNOWN = `select kbId, externalId, parentExternalId, version, textHash, textReason, textMessage, formerSince, indexHash,
  indexState, aclId, ownAclId, ownClockAt, ownClockCause, ownClockBy, seenBy, readElsewhere, removedAt, reader, readerVersion, cutRetries
  from items where workspaceId = ? and connectorId = ?`;

const COLUMNS = [
  "externalId",
  "parentExternalId",
  "identityHint",
  "providerId",
  "source",
  "url",
  "lineAnchor",
  "version",
  "textHash",
  "textChars",
  "sections",
  "indexedAt",
  "indexState",
  "textReason",
  "textMessage",
  "retryAt",
  "aclId",
  "ownAclId",
  "ownClockAt",
  "ownClockCause",
  "seenBy",
  "indexHash",
  "maskedSecrets",
  "replyTo",
  "contentRef",
  "reader",
  "readerVersion",
  "readAgainAt",
  "formerSince",
  "cutRetries",
  ...FIELD_NAMES,
] as const;

const INSERT = `insert into items (workspaceId, kbId, connectorId, ${quoted(COLUMNS).join(", ")})
  values (?, ?, ?${", ?".repeat(COLUMNS.length)})`;
const UPDATE = `update items set ${quoted(COLUMNS)
  .map((column) => `${column} = ?`)
  .join(", ")}, readElsewhere = 0, removedAt = null where workspaceId = ? and kbId = ?`;

/**
 * Reads and writes the rows of one connector's items by prepared statements on the writer's connection. `noteAccess` is
 * called with every access number that a row gets.
 */
export function makeItemRows(
  connection: SqliteConnection,
  workspaceId: string,
  connectorId: string,
  noteAccess: (aclId: number) => void,
) {
  const all = (sql: string, ...values: SqlValue[]) => {
    const statement = connection.prepare(sql);
    return readNumbers(statement, () => statement.all(...values));
  };
  const run = (sql: string, ...values: SqlValue[]) => connection.prepare(sql).run(...values);
  const known = (sql: string, ...values: SqlValue[]) =>
    // The statement selects exactly the fields of KnownItem.
    all(`${KNOWN} and ${sql}`, workspaceId, connectorId, ...values) as KnownItem[];
  const noteBoth = ({ aclId, ownAclId }: Record<string, unknown>) => {
    for (const id of [aclId, ownAclId]) if (typeof id === "number" && id > 0) noteAccess(id);
  };

  /** Entities that this batch has already stored. Files of a folder have most entities in common. */
  const entered = new Set<string>();

  return {
    find: (externalId: string) => known("externalId = ?", externalId)[0],
    /** Finds the existing items among many by one statement. */
    findAll: (externalIds: readonly string[]) =>
      known("externalId in (select value from json_each(?))", JSON.stringify(externalIds)),
    /** Finds the living held items among many by one statement. */
    heldAmong: (externalIds: readonly string[]) =>
      known(
        "externalId in (select value from json_each(?)) and indexState = 'held' and removedAt is null",
        JSON.stringify(externalIds),
      ),
    /**
     * Records by one statement that the run listed these living items, because a run lists thousands of unchanged
     * items. Returns how many of them it hadn't listed before.
     */
    markSeen: (externalIds: readonly string[], seenBy: string | null) =>
      Number(
        run(
          `update items set seenBy = ?1 where workspaceId = ?2 and connectorId = ?3
             and externalId in (select value from json_each(?4)) and removedAt is null and seenBy is not ?1`,
          seenBy,
          workspaceId,
          connectorId,
          JSON.stringify(externalIds),
        ).changes,
      ),
    findByKbId: (kbId: string) => known("kbId = ?", kbId)[0],
    /** Finds a known item with this hint and text; prefers a living item to a removed one. */
    findByHint: (hint: string, textHash: string) =>
      known(
        "identityHint = ? and textHash = ? order by removedAt is not null, removedAt desc limit 1",
        hint,
        textHash,
      )[0],
    childrenOf: (externalId: string, limit = -1) =>
      known(
        // With a bare parameter as the limit, SQLite plans the statement again each time, which takes five times as
        // long as the query.
        "parentExternalId = ? and removedAt is null limit ? + 0",
        externalId,
        limit,
      ),
    /** Finds the items among many that have living children, by one statement. */
    parentsAmong: (externalIds: readonly string[]) =>
      new Set(
        all(
          `select value as id from json_each(?) where exists (
             select 1 from items indexed by items_by_parent
             where workspaceId = ? and connectorId = ? and parentExternalId = json_each.value and removedAt is null)`,
          JSON.stringify(externalIds),
          workspaceId,
          connectorId,
        ).map((row) => String(row["id"])),
      ),
    /** Returns living items whose externalId is below `<externalId>/`; "0" is the character after "/". */
    below: (externalId: string) =>
      known("externalId > ? and externalId < ? and removedAt is null", `${externalId}/`, `${externalId}0`),
    /** Returns some of the items that wait for their access, by kbId. */
    withheld: (limit: number) =>
      all(
        "select kbId from withheld_items where workspaceId = ? and connectorId = ? order by kbId limit ?",
        workspaceId,
        connectorId,
        limit,
      ).map((row) => String(row["kbId"])),
    isWithheld: (kbId: string) =>
      all(
        "select 1 from withheld_items where workspaceId = ? and connectorId = ? and kbId = ?",
        workspaceId,
        connectorId,
        kbId,
      ).length > 0,
    endHiding(kbId: string) {
      run(
        "delete from withheld_items where workspaceId = ? and connectorId = ? and kbId = ?",
        workspaceId,
        connectorId,
        kbId,
      );
    },
    insert(item: PreparedItem, kbId: string, values: RowExtras) {
      noteBoth({ ...values });
      run(INSERT, workspaceId, kbId, connectorId, ...rowValues(item, values));
    },
    update(item: PreparedItem, kbId: string, values: RowExtras) {
      noteBoth({ ...values });
      run(UPDATE, ...rowValues(item, values), workspaceId, kbId);
    },
    set(kbId: string, values: Record<string, SqlValue>) {
      noteBoth(values);
      const columns = Object.keys(values);
      const assignments = columns.map((column) => `"${column}" = ?`).join(", ");
      run(
        `update items set ${assignments} where workspaceId = ? and kbId = ?`,
        ...Object.values(values),
        workspaceId,
        kbId,
      );
    },
    /**
     * Sets on child items the time since which they are former, like the item's text. Null = the content is read again,
     * except the parts that failed.
     */
    setFormerInside(externalId: string, since: number | null) {
      run(
        `update items set formerSince = case when ?1 is null then null else coalesce(formerSince, ?1) end
           where workspaceId = ?2 and connectorId = ?3 and externalId >= ?4 and externalId < ?5 and removedAt is null
             and (?1 is not null or textReason is not 'failed')`,
        since,
        workspaceId,
        connectorId,
        `${externalId}${CHILD_MARK}`,
        `${externalId}${AFTER_CHILDREN}`,
      );
    },
    removeText(kbId: string) {
      run("delete from item_texts where workspaceId = ? and kbId = ?", workspaceId, kbId);
    },
    writeText(kbId: string, text: string, firstLine?: number) {
      writeTextRows(connection, { workspaceId, kbId }, text, firstLine ?? null);
    },
    replaceEntities(kbId: string, entities: readonly ItemEntity[], isNew: boolean) {
      if (!isNew) run("delete from item_entities where workspaceId = ? and kbId = ?", workspaceId, kbId);
      for (const entity of entities) {
        if (!entered.has(entity.entityId)) insertEntity(connection, workspaceId, entity);
        entered.add(entity.entityId);
        insertShown(connection, workspaceId, kbId, entity);
      }
    },
    hold(kbId: string, syncId: string | null, now: number) {
      run(
        "insert or ignore into removals (workspaceId, connectorId, kbId, syncId, heldAt) values (?, ?, ?, ?, ?)",
        workspaceId,
        connectorId,
        kbId,
        syncId,
        now,
      );
    },
    relist(externalId: string) {
      run(
        "insert or ignore into relist_items (workspaceId, connectorId, externalId, tries) values (?, ?, ?, 0)",
        workspaceId,
        connectorId,
        externalId,
      );
    },
    hasRelisted: () =>
      all("select 1 from relist_items where workspaceId = ? and connectorId = ? limit 1", workspaceId, connectorId)
        .length > 0,
    endRelist(externalId: string) {
      run(
        "delete from relist_items where workspaceId = ? and connectorId = ? and externalId = ?",
        workspaceId,
        connectorId,
        externalId,
      );
    },
    unhold(kbId: string) {
      run("delete from removals where workspaceId = ? and kbId = ?", workspaceId, kbId);
    },
  };
}

export type ItemRows = ReturnType<typeof makeItemRows>;

type Kept =
  | ("version" | "indexState" | "aclId" | "ownAclId" | "ownClockAt" | "ownClockCause" | "seenBy")
  | ("reader" | "readerVersion" | "cutRetries");

/** Column values of a row that don't come from the source's item. */
export interface RowExtras extends Pick<KnownItem, Kept> {
  indexedAt: number;
  readAgainAt: number | null;
}

/** Stores an item's text. No text of the item may be stored yet. */
export function writeTextRows(
  connection: SqliteConnection,
  { workspaceId, kbId }: { workspaceId: string; kbId: string },
  text: string,
  firstLine: number | null,
): void {
  const insert = connection.prepare(
    "insert into item_texts (workspaceId, kbId, chunk, start, text, line) values (?, ?, ?, ?, ?, ?)",
  );
  let [chunk, line] = [0, firstLine];
  for (const { start, part } of textChunks(text)) {
    insert.run(workspaceId, kbId, chunk++, start, part, line);
    if (line !== null) line += countLineFeeds(part);
  }
}

/** Splits the text into chunks of at most `CHUNK_CHARS`. A chunk never ends inside a surrogate pair. */
function* textChunks(text: string): Generator<{ start: number; part: string }> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(text.length, start + CHUNK_CHARS);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end--;
    yield { start, part: text.slice(start, end) };
    start = end;
  }
}

/** Returns the values in the order of `COLUMNS`. */
function rowValues(item: PreparedItem, extras: RowExtras): SqlValue[] {
  const { text } = item;
  const values: SqlValue[] = [
    item.externalId,
    item.parentExternalId,
    item.identityHint,
    item.providerId,
    item.source,
    item.url,
    item.lineAnchor,
    extras.version,
    text.state === "text" ? text.textHash : null,
    text.state === "text" ? text.text.length : 0,
    text.state === "text" ? JSON.stringify(text.sections) : "[]",
    extras.indexedAt,
    extras.indexState,
    text.state === "text" ? null : text.state === "failed" ? "failed" : text.reason,
    text.state === "text" ? null : text.message,
    text.state === "failed" ? text.retryAt : null,
    extras.aclId,
    extras.ownAclId,
    extras.ownClockAt,
    extras.ownClockCause,
    extras.seenBy,
    item.indexHash,
    item.maskedSecrets,
    item.replyTo ?? null,
    item.contentRef ?? null,
    extras.reader,
    extras.readerVersion,
    extras.readAgainAt,
    null,
    extras.cutRetries,
  ];
  for (const name of FIELD_NAMES) values.push(toColumn(item[name]));
  return values;
}

/** Converts a value to its column. Lists, people and records are stored as JSON. */
function toColumn(value: ItemFacts[FieldName]): SqlValue {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}

function insertEntity(connection: SqliteConnection, workspaceId: string, entity: ItemEntity): void {
  connection
    .prepare("insert or ignore into entities (workspaceId, entityId, type, identity) values (?, ?, ?, ?)")
    .run(workspaceId, entity.entityId, entity.type, entity.identity);
}

function insertShown(connection: SqliteConnection, workspaceId: string, kbId: string, entity: ItemEntity): void {
  connection
    .prepare(
      `insert or ignore into item_entities (workspaceId, kbId, entityId, role, name, nameKey, email, login, claimed, isHome)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      workspaceId,
      kbId,
      entity.entityId,
      entity.role,
      entity.name,
      entity.nameKey,
      entity.email,
      entity.login,
      entity.claimed ? 1 : 0,
      entity.isHome ? 1 : 0,
    );
}

/** Quotes the columns, because `key` and `text` are SQL keywords. */
function quoted(columns: readonly string[]): string[] {
  return columns.map((column) => `"${column}"`);
}
