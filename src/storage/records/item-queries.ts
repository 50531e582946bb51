import { sql as raw, type SelectQueryBuilder } from "kysely";
import type { IndexState, ItemKind, TextReason } from "#api/common.ts";
import { CHUNK } from "#storage/results.ts";
import type { Tables } from "#storage/schema.ts";

export interface ItemFilter {
  connectorId?: string | undefined;
  source?: string | undefined;
  providerId?: string | undefined;
  kind?: ItemKind | undefined;
  indexState?: IndexState | undefined;
  textReason?: TextReason | undefined;
  /** A part of the title. The case of ASCII letters is ignored. */
  titlePart?: string | undefined;
}

/** The position of a page's last item. The next page starts after it. */
export interface ItemPosition {
  /** Epoch milliseconds or null for `updatedAt`; the lower-cased title for `title`. */
  value: number | string | null;
  kbId: string;
}

/**
 * External names of items: one of these URLs or keys, the end of a key (`#412`), or a title in any case of ASCII
 * letters.
 */
export type AskedItems =
  | { urls: readonly string[] }
  | { keys: readonly string[] }
  | { keySuffix: string }
  | { title: string };

type ItemQuery<O> = SelectQueryBuilder<Tables, "items", O>;
type Walked = { position: ItemPosition; aclId: number }[];

/**
 * Walks items, newest first. Undated items follow as a second range, because one condition over both would read the
 * index from its start.
 */
export async function walkByUpdated(
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

/** Walks items in ascending order of the lower-cased title. */
export async function walkByTitle(
  living: ItemQuery<object>,
  after: ItemPosition | undefined,
  limit: number,
): Promise<Walked> {
  return (await titleSlice(living, after).limit(limit).execute()).map(toWalked);
}

/** Converts a row of `titleSlice` to the form of a walk. */
export function toWalked(row: { kbId: string; aclId: number; lowTitle: string }): Walked[number] {
  return { position: { value: row.lowTitle, kbId: row.kbId }, aclId: row.aclId };
}

/** Selects the items after `after` by title, without a limit. */
export function titleSlice(living: ItemQuery<object>, after: ItemPosition | undefined) {
  const lowTitle = raw<string>`lower("title")`;
  let query = living.select(["kbId", "aclId", lowTitle.as("lowTitle")]);
  // Two conditions instead of a pair, because SQLite finds no index for a pair that contains an expression.
  if (after) {
    query = query
      .where(raw<boolean>`lower("title") >= ${after.value}`)
      .where(raw<boolean>`(lower("title") > ${after.value} or "kbId" > ${after.kbId})`);
  }
  return query.orderBy(lowTitle).orderBy("kbId");
}

/**
 * Restricts the query to the filter. `connectorIds` replace `filter.providerId`, so that the index by place answers
 * without reading a row.
 */
export function applyFilter<O>(
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
  // `|| ''`: with the index's own expression, SQLite would read the whole index by title instead of only the rows in
  // question.
  return filtered.where(raw<boolean>`lower("title" || '') like ${contains(filter.titlePart)} escape '!'`);
}

/**
 * Returns the pattern for a text that contains this part. Both databases compare the lower-case forms. SQLite lowers
 * ASCII letters only.
 */
export function contains(part: string): string {
  return `%${escapeLike(lowerAscii(part))}%`;
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function escapeLike(text: string): string {
  return text.replace(/[!%_]/g, "!$&");
}

/** Restricts the query to the items with these external names. */
export function whereAsked<O>(query: ItemQuery<O>, asked: AskedItems): ItemQuery<O> {
  if ("urls" in asked) return query.where("url", "in", asked.urls.slice(0, CHUNK));
  if ("title" in asked) return query.where(raw<boolean>`lower("title") = ${lowerAscii(asked.title)}`);
  if ("keys" in asked) return query.where("key", "in", asked.keys.slice(0, CHUNK));
  return query.where(raw<boolean>`"key" like ${`%${escapeLike(asked.keySuffix)}`} escape '!'`);
}
