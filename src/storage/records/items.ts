import { sql as raw, type SelectQueryBuilder } from "kysely";
import type { IndexState, ItemKind, TaskStatus, TextReason } from "#api/common.ts";
import type { Section } from "#core/sections.ts";
import type {
  AskedItems,
  ItemCount,
  ItemFilter,
  ItemPerson,
  ItemPosition,
  ItemRecord,
  ItemStore,
} from "#storage/records-types/items.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { ItemsTable, Tables } from "#storage/schema.ts";

/** Parameters per statement stay below SQLite's limit. */
const CHUNK = 512;
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

/** The reading side of items, on SQL. Every query begins with the workspace. */
export function makeItemStore(sql: SqlHandles, workspaceId: string): ItemStore {
  const living = () =>
    sql.read.selectFrom("items").where("workspaceId", "=", workspaceId).where("removedAt", "is", null);

  const providers = async () => {
    const rows = await sql.read
      .selectFrom("connectors")
      .select(["connectorId", "providerId"])
      .where("workspaceId", "=", workspaceId)
      .execute();
    return new Map(rows.map((row) => [row.connectorId, row.providerId]));
  };
  // An item's provider is its connector's.
  const connectorsOf = async ({ providerId }: ItemFilter) =>
    providerId === undefined
      ? undefined
      : [...(await providers())].filter(([, provider]) => provider === providerId).map(([connectorId]) => connectorId);

  return {
    async accessOf(kbIds) {
      const found = await inChunks(kbIds, (part) =>
        sql.read
          .selectFrom("items")
          .select(["kbId", "connectorId", "aclId", "removedAt"])
          .where("workspaceId", "=", workspaceId)
          .where("kbId", "in", part)
          .execute(),
      );
      return found.map(({ removedAt, ...item }) => ({ ...item, isRemoved: removedAt !== null }));
    },

    async records(kbIds) {
      const rows = await inChunks(kbIds, (part) => living().selectAll().where("kbId", "in", part).execute());
      const byId = new Map(rows.map((row) => [row.kbId, row]));
      return kbIds.flatMap((kbId) => {
        const row = byId.get(kbId);
        return row ? [toRecord(row)] : [];
      });
    },

    walk: (order, after, limit) =>
      order === "title" ? walkByTitle(living(), after, limit) : walkByUpdated(living, after, limit),

    async titlesWith(part, after, rows) {
      const slice = titleSlice(living(), after).limit(rows);
      const found = await sql.read
        .selectFrom(slice.as("slice"))
        .selectAll()
        .where(raw<boolean>`"lowTitle" like ${contains(part)} escape '!'`)
        .orderBy("lowTitle")
        .orderBy("kbId")
        .execute();
      const last = await titleSlice(living(), after)
        .limit(1)
        .offset(rows - 1)
        .executeTakeFirst();
      return { found: found.map(toWalked), last: last && toWalked(last).position };
    },

    async matching(kbIds, filter) {
      const connectorIds = await connectorsOf(filter);
      const rows = await inChunks(kbIds, (part) =>
        applyFilter(living().select("kbId").where("kbId", "in", part), filter, connectorIds).execute(),
      );
      return new Set(rows.map((row) => row.kbId));
    },

    async counts(filter, after, limit) {
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
      // `kind` and `indexState` are written by the sync engine from the same unions.
      return rows.map((row) => {
        return { ...row, providerId: providerOf.get(row.connectorId) ?? "", count: Number(row.count) } as ItemCount;
      });
    },

    async textChunks(kbId, start, end) {
      const texts = () =>
        sql.read.selectFrom("item_texts").where("workspaceId", "=", workspaceId).where("kbId", "=", kbId);
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

    async offsetOfLine(kbId, line) {
      const chunk = await sql.read
        .selectFrom("item_texts")
        .select(["start", "line", "text"])
        .where("workspaceId", "=", workspaceId)
        .where("kbId", "=", kbId)
        .where("line", "<", line)
        .orderBy("chunk", "desc")
        .limit(1)
        .executeTakeFirst();
      if (chunk !== undefined && chunk.line !== null) return offsetOfLine({ ...chunk, line: chunk.line }, line);
      const first = await sql.read
        .selectFrom("item_texts")
        .select("line")
        .where("workspaceId", "=", workspaceId)
        .where("kbId", "=", kbId)
        .where("chunk", "=", 0)
        .executeTakeFirst();
      return first?.line === line ? 0 : undefined;
    },

    async positionOf(kbId, order) {
      const row = await sql.read
        .selectFrom("items")
        .select(["updatedAt", raw<string>`lower("title")`.as("lowTitle")])
        .where("workspaceId", "=", workspaceId)
        .where("kbId", "=", kbId)
        .executeTakeFirst();
      return row && { kbId, value: order === "title" ? row.lowTitle : row.updatedAt };
    },

    async matches(asked, after, limit) {
      let query = whereAsked(living().select(MATCH_COLUMNS), asked);
      if (after) query = query.where(raw<boolean>`("indexedAt", "kbId") > (${after.indexedAt}, ${after.kbId})`);
      const rows = await query.orderBy("indexedAt").orderBy("kbId").limit(limit).execute();
      // `kind` and `path` are written by the sync engine from the types named here.
      return rows.map((row) => {
        return { ...row, kind: row.kind as ItemKind, path: JSON.parse(row.path) as string[], isRemoved: false };
      });
    },
  };
}

type ItemQuery<O> = SelectQueryBuilder<Tables, "items", O>;
type Walked = { position: ItemPosition; aclId: number }[];

/** Newest first. Undated items follow as a second range: one condition over both would read the index from its start. */
async function walkByUpdated(
  living: () => ItemQuery<object>,
  after: ItemPosition | undefined,
  limit: number,
): Promise<Walked> {
  const found: Walked = [];
  const range = () =>
    living()
      .select(["kbId", "updatedAt", "aclId"])
      .limit(limit - found.length);
  if (after === undefined || after.value !== null) {
    let dated = range().where("updatedAt", "is not", null);
    if (after) dated = dated.where(raw<boolean>`("updatedAt", "kbId") < (${after.value}, ${after.kbId})`);
    const rows = await dated.orderBy("updatedAt", "desc").orderBy("kbId", "desc").execute();
    found.push(...rows.map((row) => ({ position: { value: row.updatedAt, kbId: row.kbId }, aclId: row.aclId })));
    if (found.length === limit) return found;
  }
  let undated = range().where("updatedAt", "is", null);
  if (after && after.value === null) undated = undated.where("kbId", "<", after.kbId);
  const rows = await undated.orderBy("kbId", "desc").execute();
  found.push(...rows.map((row) => ({ position: { value: null, kbId: row.kbId }, aclId: row.aclId })));
  return found;
}

async function walkByTitle(living: ItemQuery<object>, after: ItemPosition | undefined, limit: number): Promise<Walked> {
  return (await titleSlice(living, after).limit(limit).execute()).map(toWalked);
}

function toWalked(row: { kbId: string; aclId: number; lowTitle: string }): Walked[number] {
  return { position: { value: row.lowTitle, kbId: row.kbId }, aclId: row.aclId };
}

function titleSlice(living: ItemQuery<object>, after: ItemPosition | undefined) {
  const lowTitle = raw<string>`lower("title")`;
  let query = living.select(["kbId", "aclId", lowTitle.as("lowTitle")]);
  // Not as a pair: SQLite finds no index for a pair that holds an expression.
  if (after) {
    query = query
      .where(raw<boolean>`lower("title") >= ${after.value}`)
      .where(raw<boolean>`(lower("title") > ${after.value} or "kbId" > ${after.kbId})`);
  }
  return query.orderBy(lowTitle).orderBy("kbId");
}

/** `connectorIds` stand for `filter.providerId`: asked for so, the index by place answers without reading a row. */
function applyFilter<O>(
  query: ItemQuery<O>,
  filter: ItemFilter,
  connectorIds: readonly string[] | undefined,
): ItemQuery<O> {
  let filtered = query;
  for (const column of ["connectorId", "source", "kind", "indexState", "textReason"] as const) {
    const value = filter[column];
    if (value !== undefined) filtered = filtered.where(column, "=", value);
  }
  if (connectorIds) filtered = filtered.where("connectorId", "in", connectorIds.length > 0 ? connectorIds : [""]);
  if (filter.titlePart === undefined) return filtered;
  // `|| ''`: with the index's own expression SQLite would read the whole index by title instead of the rows in question.
  return filtered.where(raw<boolean>`lower("title" || '') like ${contains(filter.titlePart)} escape '!'`);
}

/** Both databases compare the lower-case forms; SQLite lowers ASCII letters only. */
function contains(part: string): string {
  return `%${escapeLike(lowerAscii(part))}%`;
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function escapeLike(text: string): string {
  return text.replace(/[!%_]/g, "!$&");
}

function whereAsked<O>(query: ItemQuery<O>, asked: AskedItems): ItemQuery<O> {
  if ("urls" in asked) return query.where("url", "in", asked.urls.slice(0, CHUNK));
  if ("title" in asked) return query.where(raw<boolean>`lower("title") = ${lowerAscii(asked.title)}`);
  if ("keys" in asked) return query.where("key", "in", asked.keys.slice(0, CHUNK));
  return query.where(raw<boolean>`"key" like ${`%${escapeLike(asked.keySuffix)}`} escape '!'`);
}

/** The columns of closed sets and JSON are written by the item-writing side only, from the types named here. */
function toRecord(row: ItemsTable): ItemRecord {
  const { seenBy: _seenBy, removedAt: _removedAt, retryAt: _retryAt, workspaceId: _workspaceId, ...kept } = row;
  return {
    ...kept,
    kind: row.kind as ItemKind,
    status: row.status as TaskStatus | null,
    indexState: row.indexState as IndexState,
    textReason: row.textReason as TextReason | null,
    path: JSON.parse(row.path) as string[],
    sections: JSON.parse(row.sections) as Section[],
    labels: JSON.parse(row.labels) as string[],
    fields: JSON.parse(row.fields) as ItemRecord["fields"],
    author: row.author === null ? null : (JSON.parse(row.author) as ItemPerson | null),
    assignees: JSON.parse(row.assignees) as ItemPerson[],
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

async function inChunks<T, R>(values: readonly T[], read: (part: T[]) => Promise<R[]>): Promise<R[]> {
  const found: R[] = [];
  const unique = [...new Set(values)];
  for (let i = 0; i < unique.length; i += CHUNK) found.push(...(await read(padded(unique.slice(i, i + CHUNK)))));
  return found;
}

/** Repeats the last value up to the next power of two: ten statements to keep prepared instead of five hundred. */
function padded<T>(values: T[]): T[] {
  const last = values.at(-1);
  if (last === undefined) return values;
  const size = 2 ** Math.ceil(Math.log2(values.length));
  return [...values, ...Array.from({ length: size - values.length }, () => last)];
}
