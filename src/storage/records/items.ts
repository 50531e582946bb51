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

/** The fields that decide who may read an item; none of them can be shown. */
export interface ItemAccess {
  kbId: string;
  connectorId: string;
  aclId: number;
  isRemoved: boolean;
}

export type ItemOrder = "updatedAt" | "title";

/** Items of one source and state, by access. */
export interface ItemCount {
  connectorId: string;
  providerId: string;
  source: string;
  kind: ItemKind;
  indexState: IndexState;
  aclId: number;
  count: number;
}

/** An item that a URL, key, name or title could mean. */
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

/** A stretch of an item's text as it is stored. Offsets in UTF-16 code units. */
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
 * The reading side of items. Nothing here checks access: only `storage/policy/policy.ts` gives it to services that
 * answer people, together with what they may see. Only `accessOf` returns removed items. Every query begins with the
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
  // An item's provider is its connector's.
  const connectorsOf = async ({ providerId }: ItemFilter) =>
    providerId === undefined
      ? undefined
      : [...(await providers())].filter(([, provider]) => provider === providerId).map(([connectorId]) => connectorId);

  return {
    /** Whether nothing can be found yet. Ignores who may find it. */
    async isEmpty(): Promise<boolean> {
      return (await living().select("kbId").limit(1).executeTakeFirst()) === undefined;
    },

    /** The access of these items, removed ones included; unknown ids are left out. */
    async accessOf(kbIds: readonly string[]): Promise<ItemAccess[]> {
      const found = await readUnique(kbIds, (chunk) =>
        items.select().select(["kbId", "connectorId", "aclId", "removedAt"]).where("kbId", "in", chunk).execute(),
      );
      return found.map(({ removedAt, ...item }) => ({ ...item, isRemoved: removedAt !== null }));
    },

    /** The records of these items in the order asked for; unknown and removed ones are left out. */
    async records(kbIds: readonly string[]): Promise<ItemRecord[]> {
      const rows = await readUnique(kbIds, (chunk) => living().selectAll().where("kbId", "in", chunk).execute());
      const byId = new Map(rows.map((row) => [row.kbId, row]));
      return kbIds.flatMap((kbId) => {
        const row = byId.get(kbId);
        return row ? [toItemRecord(row)] : [];
      });
    },

    /**
     * The next items after `after` in the order, at most `limit`, as their ids, positions and accesses: an index walk
     * that reads no row. `updatedAt`: newest first, undated last; `title`: ascending.
     */
    walk: (
      order: ItemOrder,
      after: ItemPosition | undefined,
      limit: number,
    ): Promise<{ position: ItemPosition; aclId: number }[]> =>
      order === "title" ? walkByTitle(living(), after, limit) : walkByUpdated(living, after, limit),

    /**
     * Looks at the next `rows` entries by title after `after` and gives those that have `part` (ASCII letters in lower
     * case) in their lower-cased title; `last` is the last entry looked at, undefined when there are no more.
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

    /** Of these items, those that the filter lets through. */
    async matching(kbIds: readonly string[], filter: ItemFilter): Promise<Set<string>> {
      const connectorIds = await connectorsOf(filter);
      const rows = await readUnique(kbIds, (chunk) =>
        applyFilter(living().select("kbId").where("kbId", "in", chunk), filter, connectorIds).execute(),
      );
      return new Set(rows.map((row) => row.kbId));
    },

    /**
     * How many living items there are per connector, source, kind, state and access, in this order, at most `limit`
     * groups after `after`: an index walk that reads no row, unless by `textReason`. `titlePart` is not counted here.
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

    /** The chunks that hold any of the characters from `start` up to `end`, ascending. */
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
     * Where one of its file's lines begins in the text; undefined when the text has no such line, or not the file's
     * lines.
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

    /** An item's position in the order, for a list that goes on after it; also for removed ones not yet purged. */
    async positionOf(kbId: string, order: ItemOrder): Promise<ItemPosition | undefined> {
      const row = await items
        .select({ kbId })
        .select(["updatedAt", raw<string>`lower("title")`.as("lowTitle")])
        .executeTakeFirst();
      return row && { kbId, value: order === "title" ? row.lowTitle : row.updatedAt };
    },

    /**
     * The next living items after `after` that fit, the first indexed first, at most `limit`: hidden ones among them.
     */
    async matches(asked: AskedItems, after: ItemMatch | undefined, limit: number): Promise<ItemMatch[]> {
      let query = whereAsked(living().select(MATCH_COLUMNS), asked);
      if (after) query = query.where(raw<boolean>`("indexedAt", "kbId") > (${after.indexedAt}, ${after.kbId})`);
      const rows = await query.orderBy("indexedAt").orderBy("kbId").limit(limit).execute();
      return rows.map((row) => ({ ...row, path: readTexts(row.path), isRemoved: false }));
    },
  };
}

/** Where a line begins that is not the chunk's first; a line that begins right behind the chunk is found at its end. */
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

/** Repeats the last value up to the next power of two: ten statements to keep prepared instead of five hundred. */
function padded<T>(values: T[]): T[] {
  const last = values.at(-1);
  if (last === undefined) return values;
  const size = 2 ** Math.ceil(Math.log2(values.length));
  return [...values, ...Array.from({ length: size - values.length }, () => last)];
}
