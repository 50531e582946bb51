import { type Fault, isMistake, withoutWords } from "#core/faults.ts";
import { type ParsedQuery, parseQuery } from "#text/query.ts";
import { type Database, inReadTransaction, makeStatements, numberOf, type Statements } from "#storage/index/sqlite.ts";
import { HIT_COLUMNS, type HitRow, sectionsOf, toShownItem } from "#storage/item-record.ts";
import { readNumbers } from "#storage/sqlite.ts";
import type { HitPosition, SearchResponse, ShownHit, ShowRequest, ShowResponse } from "#storage/search-index.ts";
import { makeAccessCheck, makeExcerpts, type Placed } from "./excerpts.ts";
import { makeExplainer } from "./explain.ts";
import type { IndexReader } from "./reader.ts";

/** Extra hits beyond the limit, which replace hits that the records reject. */
const SPARE_HITS = 3;

/** Milliseconds after which long texts are no longer searched for a better passage. Source: S24. */
const ENOUGH_MS = 500;

const EPOCH = "SELECT epoch FROM access_state WHERE workspaceId = ?";
const ITEM = `SELECT ${HIT_COLUMNS.join(", ")} FROM items WHERE workspaceId = ? AND kbId = ? AND removedAt IS NULL`;

/**
 * Makes the port's `show`: a search, the second check of each hit, and its displayed content, in one read transaction.
 */
export function makeShow(
  db: Database,
  reader: Pick<IndexReader, "searchIn">,
  now: () => number = () => performance.now(),
) {
  const sql = makeStatements(db);
  return (request: ShowRequest): ShowResponse | undefined =>
    inReadTransaction(db, () => {
      if (numberOf(sql(EPOCH), request.workspaceId) !== request.viewer.epoch) return undefined;
      const query = parseQuery(request.query);
      const { explained, ...response } = search(reader, request, query);
      const { hits, ...rest } = response;
      const explain = explained && makeExplainer(hits, explained);
      const shown = readShown(sql, request, query, hits, { now, explain });
      return { ...rest, ...shown, ...(explained && { statistics: explained.statistics }) };
    });
}

/** Searches for extra hits, as many as may be rejected or are already pinned. */
function search(reader: Pick<IndexReader, "searchIn">, request: ShowRequest, query: ParsedQuery): SearchResponse {
  const { limit, pinned, after } = request;
  const wanted = limit === 0 ? 0 : Math.min(200, limit + pinned.length + SPARE_HITS);
  const position = after && exactPosition(reader, request, query, after);
  return reader.searchIn(
    { ...request, limit: wanted, ...(after && position && { after: { ...after, position } }) },
    query,
  );
}

/** Returns the current position of a cursor's hit, unless the hit has moved since. */
function exactPosition(
  reader: Pick<IndexReader, "searchIn">,
  request: ShowRequest,
  query: ParsedQuery,
  { position, isRounded, ...decided }: NonNullable<ShowRequest["after"]>,
): HitPosition {
  if (isRounded !== true) return position;
  const { hits } = reader.searchIn(
    { ...request, limit: 1, facets: [], after: { position: { group: 1, value: Infinity, kbId: "" }, ...decided } },
    query,
    position.kbId,
  );
  const exact = hits[0]?.position;
  return exact !== undefined && isSameValue(exact.value, position.value) ? exact : position;
}

/** Whether this value could be the one that was rounded. Summing in another order changes the last bits. */
function isSameValue(one: number, rounded: number): boolean {
  return Math.abs(one - rounded) <= Math.abs(rounded) * 1e-9;
}

/** Returns the displayed content. Access is checked by the records, never by the index. Source: S7. */
function readShown(
  sql: Statements,
  request: ShowRequest,
  query: ParsedQuery,
  hits: SearchResponse["hits"],
  { now, explain }: { now: () => number; explain: ReturnType<typeof makeExplainer> | undefined },
): Pick<ShowResponse, "shown" | "refused" | "faults"> {
  const { workspaceId, pinned, after, limit } = request;
  // The hit after which the page continues may have moved behind its former position.
  const skipped = new Set(after === undefined ? pinned : [...pinned, after.position.kbId]);
  const first = after === undefined ? pinned.map((kbId) => ({ kbId })) : [];
  const wanted: { kbId: string; position?: HitPosition }[] = [
    ...first,
    ...hits.filter(({ kbId }) => !skipped.has(kbId)),
  ];
  const isReadable = makeAccessCheck(sql, request);
  const excerptsOf = makeExcerpts(sql, workspaceId, query, request.passages);
  const latest = now() + ENOUGH_MS;
  const shown: ShownHit[] = [];
  const faults: Fault[] = [];
  const unlessMistake = <T>(read: () => T, otherwise: T): T => {
    try {
      return read();
    } catch (error) {
      if (!isMistake(error)) throw error;
      faults.push(withoutWords(error));
      return otherwise;
    }
  };
  let refused = 0;
  for (const { kbId, position } of wanted.slice(0, limit + SPARE_HITS)) {
    // One hit beyond the limit shows that there are more.
    if (shown.length > limit) break;
    // The columns of the store's table `items`.
    const statement = sql(ITEM);
    const row = readNumbers(statement, () => statement.get(workspaceId, kbId)) as HitRow | undefined;
    // An access that can't be read is open to no one.
    if (row === undefined || !unlessMistake(() => isReadable(row.aclId), false)) {
      refused++;
      continue;
    }
    const hasPassages = row.textHash !== null && shown.length < limit;
    const excerpts = () => excerptsOf(placedIn(row), () => now() > latest);
    const passages = hasPassages ? unlessMistake(excerpts, []) : [];
    const item = toShownItem(row);
    const explanation = explain?.(item, position);
    shown.push({
      item,
      passages,
      ...(position !== undefined && { position }),
      ...(explanation !== undefined && { explanation }),
    });
  }
  return { shown, refused, faults };
}

/** The fields are named one by one, because V8 copies a row with many columns slowly. */
function placedIn(row: HitRow): Placed {
  const { kbId, textChars, url, lineAnchor } = row;
  return { kbId, textChars, url, lineAnchor, sections: sectionsOf(row) };
}
