import { inChunks } from "#core/in-chunks.ts";
import { FORMER_TEXT_MS } from "#storage/item-batch.ts";
import { compiledQuery } from "#storage/compiled-query.ts";
import { sql as rawSql } from "kysely";
import type { EntityType, IndexState } from "#api/common.ts";
import { CHILD_MARK, isChildId, outermostId } from "#core/child-ids.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { onSame } from "#storage/conditions.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { CHUNK, readInChunks } from "#storage/results.ts";
import type { ItemsTable } from "#storage/schema.ts";
import { readTexts } from "#storage/item-record.ts";
import { ENTITIES, ITEMS, ITEM_ENTITIES, RELIST_ITEMS, SOURCE_STATE } from "#storage/tables/items.ts";

/** The state of a stored, living item that a run knows before it reads the item. */
export interface StoredItem {
  kbId: string;
  externalId: string;
  version: string | null;
  indexState: IndexState;
  /** True while another try of the same version may yield a text. */
  isRetryable: boolean;
  seenBy: string | null;
  parentExternalId: string | null;
  /** True if a text of the item is stored. */
  hasText: boolean;
  /** When the content became unreadable, while the former text stays. */
  formerSince: number | null;
  /** True if the item was last read at another place, or for a former owner. */
  wasReadElsewhere: boolean;
}

/** Items in a container that were created in a time range. Epoch milliseconds; `to` is exclusive. */
export interface Slice {
  entityId: string;
  from?: number;
  to?: number;
}

/** The fields of a stored item by which scope rules judge it. */
export interface PlacedRow {
  kbId: string;
  externalId: string;
  path?: string[];
  place: string;
  containers: { type: Exclude<EntityType, "person">; id: string }[];
}

/** The number of rows whose containers one query reads. */
const PLACED_PAGE = 500;

/**
 * How many runs are asked to list an item again while its content keeps changing between its listing and its reading.
 */
const RELIST_TRIES = 5;

async function containersOf(
  sql: SqlHandles,
  workspaceId: string,
  connectorId: string,
  kbIds: readonly string[],
): Promise<Map<string, PlacedRow["containers"]>> {
  const rows = await inWorkspace(sql, workspaceId, ITEM_ENTITIES)
    .select()
    .innerJoin("entities", onSame(ENTITIES, ITEM_ENTITIES, "entityId"))
    .select(["item_entities.kbId", "entities.type", "entities.identity"])
    .where("item_entities.kbId", "in", kbIds)
    .where("item_entities.role", "=", "container")
    .execute();
  const found = new Map<string, PlacedRow["containers"]>();
  for (const { kbId, type, identity } of rows) {
    const of = found.get(kbId) ?? [];
    // `server/sync/items/entities.ts` wrote it as `<connectorId>:<id>`, with a container as its type.
    of.push({ type: type as Exclude<EntityType, "person">, id: identity.slice(connectorId.length + 1) });
    found.set(kbId, of);
  }
  return found;
}

// Each member is named, because a run reads every row of its connector, and a rest pattern would take longer than the
// query.
function toStored(row: Pick<ItemsTable, (typeof STORED_COLUMNS)[number]>): StoredItem {
  return {
    kbId: row.kbId,
    externalId: row.externalId,
    version: row.version,
    indexState: row.indexState,
    isRetryable: row.textReason === "failed" && row.retryAt !== null,
    seenBy: row.seenBy,
    parentExternalId: row.parentExternalId,
    wasReadElsewhere: row.readElsewhere === 1,
    hasText: row.textChars > 0,
    formerSince: row.formerSince,
  };
}

const STORED_COLUMNS = [
  "kbId",
  "externalId",
  "version",
  "indexState",
  "textReason",
  "retryAt",
  "seenBy",
  "parentExternalId",
  "readElsewhere",
  "textChars",
  "formerSince",
] as const;

const LIST_STORED_OF = compiledQuery((read, workspaceId: string, connectorId: string, externalIds: string) =>
  inWorkspace({ read }, workspaceId, ITEMS)
    .select({ connectorId, removedAt: null })
    .select(STORED_COLUMNS)
    .where(rawSql<boolean>`"externalId" in (select value from json_each(${externalIds}))`),
);

/** Reads a connector's stored items, for runs and sources. Nothing here checks access. */
export function makeStoredItemStore(sql: SqlHandles, workspaceId: string) {
  const itemEntities = inWorkspace(sql, workspaceId, ITEM_ENTITIES);
  const items = inWorkspace(sql, workspaceId, ITEMS);
  const relisted = inWorkspace(sql, workspaceId, RELIST_ITEMS);
  const living = (connectorId: string) => items.select({ connectorId, removedAt: null });
  const stored = (connectorId: string) => living(connectorId).select(STORED_COLUMNS);

  const storedFrom = async (connectorId: string, operator: ">" | ">=", externalId: string, limit: number) => {
    const from = stored(connectorId).where("externalId", operator, externalId);
    return (await from.orderBy("externalId").limit(limit).execute()).map(toStored);
  };

  return {
    /** Returns living items after this externalId in its order, at most `limit`. */
    listStored: (connectorId: string, afterExternalId: string, limit: number): Promise<StoredItem[]> =>
      storedFrom(connectorId, ">", afterExternalId, limit),

    /** Returns living items from this externalId on (inclusive), in its order, at most `limit`. */
    listStoredFrom: (connectorId: string, externalId: string, limit: number): Promise<StoredItem[]> =>
      storedFrom(connectorId, ">=", externalId, limit),

    /**
     * Returns living items after this externalId that a run has not listed and that aren't held. Held items that were
     * last read elsewhere are included.
     */
    async listUnnamed(
      connectorId: string,
      syncId: string,
      afterExternalId: string,
      limit: number,
    ): Promise<Pick<StoredItem, "kbId" | "externalId" | "wasReadElsewhere">[]> {
      const rows = await living(connectorId)
        .select(["kbId", "externalId", "readElsewhere"])
        .where("externalId", ">", afterExternalId)
        .where((eb) => eb.or([eb("seenBy", "is", null), eb("seenBy", "<>", syncId)]))
        .where((eb) => eb.or([eb("indexState", "<>", "held"), eb("readElsewhere", "=", 1)]))
        .orderBy("externalId")
        .limit(limit)
        .execute();
      return rows.map(({ readElsewhere, ...row }) => ({ ...row, wasReadElsewhere: readElsewhere === 1 }));
    },

    /**
     * Returns living items whose chain of containers includes that of a slice, after this kbId in its order, at most
     * `limit`.
     */
    async listSlice(
      connectorId: string,
      { entityId, from, to }: Slice,
      afterKbId: string,
      limit: number,
    ): Promise<StoredItem[]> {
      let query = itemEntities
        .select({ entityId })
        // Written exactly as in the partial index, so that SQLite uses the index.
        .where(rawSql<boolean>`"item_entities"."isHome" = 1`)
        .where("item_entities.kbId", ">", afterKbId)
        .innerJoin("items", onSame(ITEMS, ITEM_ENTITIES, "kbId"))
        .select(STORED_COLUMNS.map((column) => `items.${column}` as const))
        .where("items.connectorId", "=", connectorId)
        .where("items.removedAt", "is", null);
      if (from !== undefined) query = query.where("items.createdAt", ">=", from);
      if (to !== undefined) query = query.where("items.createdAt", "<", to);
      return (await query.orderBy("item_entities.kbId").limit(limit).execute()).map(toStored);
    },

    /**
     * Returns living items after this kbId whose own clock becomes obsolete when their connector's clock is set by this
     * run: they were checked separately, or this run has seen what other runs could not.
     */
    async listOvertaken(
      connectorId: string,
      syncId: string,
      afterKbId: string,
      limit: number,
    ): Promise<{ kbId: string; externalId: string }[]> {
      return living(connectorId)
        .select(["kbId", "externalId"])
        .where("ownClockAt", "is not", null)
        .where("kbId", ">", afterKbId)
        .where((eb) =>
          eb.or([
            eb("ownClockCause", "is", null),
            eb.and([eb("seenBy", "=", syncId), eb.or([eb("ownClockBy", "is", null), eb("ownClockBy", "<>", syncId)])]),
          ]),
        )
        .orderBy("kbId")
        .limit(limit)
        .execute();
    },

    /** Returns living items below these, at any depth, without files inside files. */
    async listParts(connectorId: string, externalIds: readonly string[]): Promise<StoredItem[]> {
      const found = new Map<string, StoredItem>();
      for (let level = externalIds; level.length > 0;) {
        const rows = await readInChunks(level, (chunk) =>
          stored(connectorId)
            .where("parentExternalId", "in", chunk)
            .where(rawSql<boolean>`instr("externalId", ${CHILD_MARK}) = 0`)
            .execute(),
        );
        const fresh = rows.map(toStored).filter(({ kbId }) => !found.has(kbId));
        for (const row of fresh) found.set(row.kbId, row);
        level = fresh.map(({ externalId }) => externalId);
      }
      return [...found.values()];
    },

    /**
     * Yields every living item with the fields by which scope rules judge it. A file inside a file is judged as the
     * source item that contains it.
     */
    async *walkPlaced(connectorId: string): AsyncGenerator<PlacedRow, void> {
      for (let after = ""; ;) {
        const page = await living(connectorId)
          .select(["kbId", "externalId", "path", "source"])
          .where("externalId", ">", after)
          .orderBy("externalId")
          .limit(PLACED_PAGE)
          .execute();
        const kbIds = page.map(({ kbId }) => kbId);
        const containers = await containersOf(sql, workspaceId, connectorId, kbIds);
        for (const { kbId, externalId, path, source } of page) {
          yield {
            kbId,
            externalId: outermostId(externalId),
            ...(!isChildId(externalId) && { path: readTexts(path) }),
            place: source.slice(source.indexOf(":") + 1),
            containers: containers.get(kbId) ?? [],
          };
        }
        const last = page.at(-1);
        if (!last || page.length < PLACED_PAGE) return;
        after = last.externalId;
      }
    },

    /** Returns the listed version of a living item, and its source's reference to the content. */
    async findContent(
      connectorId: string,
      externalId: string,
    ): Promise<{ version: string | null; contentRef: string | null } | undefined> {
      const found = living(connectorId).select(["version", "contentRef"]).where("externalId", "=", externalId);
      return found.executeTakeFirst();
    },

    /** Returns the access that a living item names itself; undefined for an item that doesn't exist or names none. */
    async findOwnAccess(connectorId: string, externalId: string): Promise<number | undefined> {
      const row = await living(connectorId).select("ownAclId").where("externalId", "=", externalId).executeTakeFirst();
      return row?.ownAclId ?? undefined;
    },

    /**
     * Returns living items whose content became unreadable at this time or earlier, in the order of their connectors.
     */
    listFormer(since: number, limit: number): Promise<{ kbId: string; connectorId: string }[]> {
      return items
        .select({ removedAt: null })
        .select(["kbId", "connectorId"])
        .where(rawSql<boolean>`("formerSince" <= ${since} or "formerSince" >= ${since + 2 * FORMER_TEXT_MS})`)
        .orderBy("connectorId")
        .orderBy("kbId")
        .limit(limit)
        .execute();
    },

    /** Returns state that a source keeps in addition to its cursor, as JSON. */
    findState: async (connectorId: string, key: string): Promise<string | undefined> =>
      (await inWorkspace(sql, workspaceId, SOURCE_STATE).find({ connectorId, key }))?.value,

    /** Takes items that must be listed again. Each item is taken only a limited number of times. */
    async takeRelisted(connectorId: string, limit: number): Promise<{ externalIds: string[]; tries: number }> {
      await relisted.deleting({ connectorId }).where("tries", ">=", RELIST_TRIES).execute();
      const rows = await relisted
        .select({ connectorId })
        .select(["externalId", "tries"])
        .orderBy("externalId")
        .limit(limit)
        .execute();
      const externalIds = rows.map(({ externalId }) => externalId);
      for (const chunk of inChunks(externalIds, CHUNK)) {
        await relisted
          .updating({ connectorId })
          .set((eb) => ({ tries: eb("tries", "+", 1) }))
          .where("externalId", "in", chunk)
          .execute();
      }
      return { externalIds, tries: Math.max(0, ...rows.map(({ tries }) => tries)) };
    },

    /** Returns the living items among these identities at the source. */
    async listStoredOf(connectorId: string, externalIds: readonly string[]): Promise<StoredItem[]> {
      const rows = await LIST_STORED_OF(sql.read, workspaceId, connectorId, JSON.stringify(externalIds));
      return rows.map(toStored);
    },

    /** Returns one living item by its identity at the source. */
    async findStored(connectorId: string, externalId: string): Promise<StoredItem | undefined> {
      const row = await stored(connectorId).where("externalId", "=", externalId).executeTakeFirst();
      return row && toStored(row);
    },
  };
}
