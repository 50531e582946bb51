import { kbIdAt } from "#storage/index/kb-ids.ts";
import { PostingCache } from "#storage/index/posting-cache.ts";
import { WorkspaceView } from "#storage/index/read/workspace-view.ts";
import type { SegmentView } from "#storage/index/segment-view.ts";
import { inReadTransaction, makeStatements, type Statements } from "#storage/index/sqlite.ts";
import { readState } from "#storage/index/state.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";

/**
 * `missing`: an item without a document. `access`: a document with another access than its item. `orphan`: a document
 * without an item.
 */
export type IndexFault = "missing" | "access" | "orphan";

/** The result of comparing a page of items. */
export interface IndexPage {
  /** The number of items compared. */
  items: number;
  found: { fault: IndexFault; kbId: string }[];
}

interface StoredItem {
  kbId: string;
  aclId: number;
}

/** Items per page; a page takes some milliseconds. */
const PAGE = 500;

/**
 * Compares a workspace's whole index with its items, on one state of the database. Every living item must have a
 * document with its access, and every document must belong to a living item. Items that no one may read need no
 * document.
 *
 * @throws errors of reading a damaged index
 */
export function* checkIndex(connection: SqliteConnection, workspaceId: string): Generator<IndexPage> {
  const sql = makeStatements(connection.raw);
  connection.raw.exec("BEGIN");
  try {
    const view = openView(sql, workspaceId);
    yield* compareItems(sql, workspaceId, view);
    for (const segment of view?.segments ?? []) {
      for (const kbIds of livingIn(segment, view)) {
        yield { items: 0, found: withoutItem(sql, workspaceId, kbIds).map((kbId) => ({ fault: "orphan", kbId })) };
      }
    }
  } finally {
    connection.raw.exec("COMMIT");
  }
}

/** Counts the workspaces whose index is being rebuilt or waits to be rebuilt. */
export function countOutdated(connection: SqliteConnection, analyzerVersion: number): number {
  return inReadTransaction(connection.raw, () => {
    const { rows } = connection.execute(
      "select count(*) as count from index_state where analyzerVersion <> ? and workspaceId is not null",
      [analyzerVersion],
    );
    return Number(rows[0]?.["count"]);
  });
}

function openView(sql: Statements, workspaceId: string): WorkspaceView | undefined {
  const state = readState(sql, workspaceId);
  if (state === undefined) return undefined;
  const view = new WorkspaceView(sql, state.no, new PostingCache());
  view.refresh(state);
  return view;
}

function* compareItems(sql: Statements, workspaceId: string, view: WorkspaceView | undefined): Generator<IndexPage> {
  const page = sql(
    `select "kbId", "aclId" from items where "workspaceId" = ? and "kbId" > ? and "removedAt" is null
     order by "kbId" limit ?`,
  );
  for (let after = ""; ;) {
    // The query selects these columns, which have their declared types.
    const items = page.all(workspaceId, after, PAGE) as unknown as StoredItem[];
    yield { items: items.length, found: items.flatMap((item) => compare(item, view)) };
    const last = items.at(-1);
    if (last === undefined || items.length < PAGE) return;
    after = last.kbId;
  }
}

function compare({ kbId, aclId }: StoredItem, view: WorkspaceView | undefined): IndexPage["found"] {
  const place = view?.find(kbId);
  if (place === undefined) return aclId === 0 ? [] : [{ fault: "missing", kbId }];
  return place.segment.columns.acl[place.id] === aclId ? [] : [{ fault: "access", kbId }];
}

/** Yields the kbIds of the living documents of a segment, some at a time. */
function* livingIn(segment: SegmentView, view: WorkspaceView | undefined): Generator<string[]> {
  const { columns } = segment;
  for (let first = 0; first < columns.docs; first += PAGE) {
    const kbIds: string[] = [];
    for (let id = first; id < Math.min(first + PAGE, columns.docs); id++) {
      const kbId = kbIdAt(columns, id);
      const place = view?.find(kbId);
      if (place?.segment === segment && place.id === id) kbIds.push(kbId);
    }
    yield kbIds;
  }
}

function withoutItem(sql: Statements, workspaceId: string, kbIds: readonly string[]): string[] {
  const rows = sql(
    `select value as kbId from json_each(?2) where not exists
     (select 1 from items i where i."workspaceId" = ?1 and i."kbId" = value and i."removedAt" is null)`,
  ).all(workspaceId, JSON.stringify(kbIds));
  return rows.map((row) => String(row["kbId"]));
}
