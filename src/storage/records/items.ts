import { sql as raw } from "kysely";
import type { IndexState, ItemKind } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { type ItemRecord, readTexts, toItemRecord } from "#storage/item-record.ts";
import {
  applyFilter,
  type AskedItems,
  contains,
  type ItemFilter,
  type ItemPosition,
  titleSlice,
  toWalked,
  walkByTitle,
  walkByUpdated,
  whereAsked,
} from "./item-queries.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { readInChunks } from "#storage/results.ts";
import { ITEMS, ITEM_TEXTS } from "#storage/tables/items.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";

/** The fields that decide who may read an item. None of them may be shown. */
export interface ItemAccess {
  kbId: string;
  connectorId: string;
  aclId: number;
  isRemoved: boolean;
}

export type ItemOrder = "updatedAt" | "title";

/** The number of items of one source and state, by access. */
export interface ItemCount {
  connectorId: string;
  providerId: string;
  source: string;
  kind: ItemKind;
  indexState: IndexState;
  aclId: number;
  count: number;
}

/** An item that a URL, key, name or title may refer to. */
export interface ItemMatch extends ItemAccess {
  providerId: string;
  kind: ItemKind;
  title: string;
  source: string;
  path: readonly string[];
  key: string | null;
  url: string | null;
  indexedAt: number;
}

/** A range of an item's text as it is stored. Offsets are in UTF-16 code units. */
export interface TextChunk {
  start: number;
  text: string;
}

export type ItemStore = ReturnType<typeof makeItemStore>;

const MATCH_COLUMNS = [
  "kbId",
  "connectorId",
  "aclId",
  "providerId",
  "kind",
  "key",
  "title",
  "source",
  "path",
  "url",
  "indexedAt",
] as const;

/**
 * Reads items. Nothing here checks access: only `storage/policy/policy.ts` passes this store to services that answer
 * people, together with what those people may see. Only `accessOf` returns removed items. Every query begins with the
 * workspace.
 */
export function makeItemStore(sql: SqlHandles, workspaceId: string) {
  const items = inWorkspace(sql, workspaceId, ITEMS);
  const living = () => items.select({ removedAt: null });

  const providers = async () => {
    const rows = await inWorkspace(sql, workspaceId, CONNECTORS)
      .select()
      .select(["connectorId", "providerId"])
      .execute();
    return new Map(rows.map((row) => [row.connectorId, row.providerId]));
  };
  // An item's provider is the provider of its connector.
  const connectorsOf = async ({ providerId }: ItemFilter) =>
    providerId === undefined
      ? undefined
      : [...(await providers())].filter(([, provider]) => provider === providerId).map(([connectorId]) => connectorId);

  return {
    /** Whether the workspace has no items yet, regardless of who may read them. */
    async isEmpty(): Promise<boolean> {
      return (await living().select("kbId").limit(1).executeTakeFirst()) === undefined;
    },

    /** Returns the accesses of these items, removed ones included, without unknown ids. */
    async accessOf(kbIds: readonly string[]): Promise<ItemAccess[]> {
      const found = await readUnique(kbIds, (chunk) =>
        items.select().select(["kbId", "connectorId", "aclId", "removedAt"]).where("kbId", "in", chunk).execute(),
      );
      return found.map(({ removedAt, ...item }) => ({ ...item, isRemoved: removedAt !== null }));
    },

    /** Returns the records of these items in the requested order, without unknown and removed ones. */
    async records(kbIds: readonly string[]): Promise<ItemRecord[]> {
      const rows = await readUnique(kbIds, (chunk) => living().selectAll().where("kbId", "in", chunk).execute());
      const byId = new Map(rows.map((row) => [row.kbId, row]));
      return kbIds.flatMap((kbId) => {
        const row = byId.get(kbId);
        return row ? [toItemRecord(row)] : [];
      });
    },

    /**
     * Returns the next items after `after` in the order, at most `limit`, as their ids, positions and accesses: an
     * index walk that reads no row. `updatedAt`: newest first, undated last; `title`: ascending.
     */
    walk: (
      order: ItemOrder,
      after: ItemPosition | undefined,
      limit: number,
    ): Promise<{ position: ItemPosition; aclId: number }[]> =>
      order === "title" ? walkByTitle(living(), after, limit) : walkByUpdated(living, after, limit),

    /**
     * Reads the next `rows` entries by title after `after` and returns those that contain `part` (ASCII letters in
     * lower case) in their lower-cased title. `last` is the last entry read; undefined when there are no more.
     */
    async titlesWith(
      chunk: string,
      after: ItemPosition | undefined,
      rows: number,
    ): Promise<{ found: { position: ItemPosition; aclId: number }[]; last: ItemPosition | undefined }> {
      const slice = titleSlice(living(), after).limit(rows);
      const found = await sql.read
        .selectFrom(slice.as("slice"))
        .selectAll()
        .where(raw<boolean>`"lowTitle" like ${contains(chunk)} escape '!'`)
        .orderBy("lowTitle")
        .orderBy("kbId")
        .execute();
      const last = await titleSlice(living(), after)
        .limit(1)
        .offset(rows - 1)
        .executeTakeFirst();
      return { found: found.map(toWalked), last: last && toWalked(last).position };
    },

    /** Returns those of these items that pass the filter. */
    async matching(kbIds: readonly string[], filter: ItemFilter): Promise<Set<string>> {
      const connectorIds = await connectorsOf(filter);
      const rows = await readUnique(kbIds, (chunk) =>
        applyFilter(living().select("kbId").where("kbId", "in", chunk), filter, connectorIds).execute(),
      );
      return new Set(rows.map((row) => row.kbId));
    },

    /**
     * Counts living items per connector, source, kind, state and access, in this order, at most `limit` groups after
     * `after`: an index walk that reads no row, unless the filter has `textReason`. Ignores `titlePart`.
     */
    async counts(
      filter: Omit<ItemFilter, "titlePart">,
      after: ItemCount | undefined,
      limit: number,
    ): Promise<ItemCount[]> {
      const columns = ["connectorId", "source", "kind", "indexState", "aclId"] as const;
      let query = applyFilter(living(), filter, await connectorsOf(filter))
        .select([...columns, (eb) => eb.fn.countAll().as("count")])
        .groupBy(columns);
      if (after) {
        const last = columns.map((column) => after[column]);
        query = query.where(raw<boolean>`(${raw.join(columns.map((c) => raw.ref(c)))}) > (${raw.join(last)})`);
      }
      for (const column of columns) query = query.orderBy(column);
      const rows = await query.limit(limit).execute();
      const providerOf = await providers();
      return rows.map((row) => {
        return { ...row, providerId: providerOf.get(row.connectorId) ?? "", count: Number(row.count) };
      });
    },

    /** Returns the chunks that hold any of the characters from `start` up to `end`, ascending. */
    async textChunks(kbId: string, start: number, end: number): Promise<TextChunk[]> {
      const texts = () => inWorkspace(sql, workspaceId, ITEM_TEXTS).select({ kbId });
      const first = await texts()
        .select((eb) => eb.fn.max("chunk").as("chunk"))
        .where("start", "<=", start)
        .executeTakeFirst();
      return texts()
        .select(["start", "text"])
        .where("chunk", ">=", Number(first?.chunk ?? 0))
        .where("start", "<", end)
        .orderBy("chunk")
        .execute();
    },

    /**
     * Returns where a line of the item's file begins in the text; undefined when the text has no such line, or its
     * lines aren't those of the file.
     */
    async offsetOfLine(kbId: string, line: number): Promise<number | undefined> {
      const chunk = await inWorkspace(sql, workspaceId, ITEM_TEXTS)
        .select({ kbId })
        .select(["start", "line", "text"])
        .where("line", "<", line)
        .orderBy("chunk", "desc")
        .limit(1)
        .executeTakeFirst();
      if (chunk !== undefined && chunk.line !== null) return offsetOfLine({ ...chunk, line: chunk.line }, line);
      const first = await inWorkspace(sql, workspaceId, ITEM_TEXTS)
        .select({ kbId, chunk: 0 })
        .select("line")
        .executeTakeFirst();
      return first?.line === line ? 0 : undefined;
    },

    /**
     * Returns an item's position in the order, for a list that continues after it; also for removed items that aren't
     * purged yet.
     */
    async positionOf(kbId: string, order: ItemOrder): Promise<ItemPosition | undefined> {
      const row = await items
        .select({ kbId })
        .select(["updatedAt", raw<string>`lower("title")`.as("lowTitle")])
        .executeTakeFirst();
      return row && { kbId, value: order === "title" ? row.lowTitle : row.updatedAt };
    },

    /**
     * Returns the next living items after `after` that match, the first indexed first, at most `limit`. Hidden items
     * are included.
     */
    async matches(asked: AskedItems, after: ItemMatch | undefined, limit: number): Promise<ItemMatch[]> {
      let query = whereAsked(living().select(MATCH_COLUMNS), asked);
      if (after) query = query.where(raw<boolean>`("indexedAt", "kbId") > (${after.indexedAt}, ${after.kbId})`);
      const rows = await query.orderBy("indexedAt").orderBy("kbId").limit(limit).execute();
      return rows.map((row) => ({ ...row, path: readTexts(row.path), isRemoved: false }));
    },
  };
}

/**
 * Returns where a line begins that isn't the chunk's first. A line that begins right after the chunk is found at its
 * end.
 */
function offsetOfLine(chunk: { start: number; line: number; text: string }, line: number): number | undefined {
  let at = 0;
  for (let current = chunk.line; current < line; current++) {
    at = chunk.text.indexOf("\n", at) + 1;
    if (at === 0) return undefined;
  }
  return chunk.start + at;
}

function readUnique<T, R>(values: readonly T[], read: (chunk: T[]) => Promise<R[]>): Promise<R[]> {
  return readInChunks([...new Set(values)], (chunk) => read(padded(chunk)));
}

/**
 * Repeats the last value up to the next power of two, so that ten prepared statements are kept instead of five hundred.
 */
function padded<T>(values: T[]): T[] {
  const last = values.at(-1);
  if (last === undefined) return values;
  const size = 2 ** Math.ceil(Math.log2(values.length));
  return [...values, ...Array.from({ length: size - values.length }, () => last)];
}
