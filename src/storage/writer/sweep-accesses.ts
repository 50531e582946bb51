import type { IndexWriter } from "#storage/index/write/writer.ts";
import type { SweptAccesses } from "#storage/item-batch.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";
import { NumberSet } from "./number-set.ts";
import { type Query, readPages } from "./read-pages.ts";

export interface SweepAccessesArgs {
  workspaceId: string;
  /** Rows that one step reads, and steps of one call. Default: as many steps as fit into a slice of time. */
  page?: number;
  steps?: number;
}

const PAGE = 1_000;
const SLICE_MS = 18;

interface Sweep {
  /** Accesses in use: those that rows had when the walk visited them, and all that rows got since the walk began. */
  used: NumberSet;
  job: Generator<void>;
  accesses: number;
  lists: number;
}

/**
 * The procedure `sweepAccesses`, which deletes accesses that no item uses, and lists that no access uses, slice by
 * slice between other work of the writer. An item uses either the accesses that it had when the walk visited its row or
 * those that it got since, so an access in neither set is unused. An access never changes its lists and a new one has a
 * higher number, so a finished walk knows all lists. Numbers are never reused, because readers may keep what they have
 * cached.
 */
export function makeAccessSweeper(connection: SqliteConnection, index: Pick<IndexWriter, "followAccesses">) {
  const running = new Map<string, Sweep>();
  return {
    /** Records every access number that an item's row gets. */
    note: (workspaceId: string, aclId: number): void => running.get(workspaceId)?.used.add(aclId),
    /** Runs one slice in a separate transaction. A new sweep begins after the end of one, and after a failure. */
    run({ workspaceId, page = PAGE, steps = Number.POSITIVE_INFINITY }: SweepAccessesArgs): SweptAccesses {
      const sweep = running.get(workspaceId) ?? begin(connection, index, workspaceId, page);
      // The sweep is removed from the map while it works: after a step that was rolled back, its state is invalid.
      running.delete(workspaceId);
      [sweep.accesses, sweep.lists] = [0, 0];
      const isDone = inTransaction(connection.raw, () => {
        const end = performance.now() + SLICE_MS;
        for (let step = 0; step < steps; step++) {
          if (sweep.job.next().done === true) return true;
          if (performance.now() >= end) break;
        }
        return false;
      });
      if (!isDone) running.set(workspaceId, sweep);
      return { isDone, accesses: sweep.accesses, lists: sweep.lists };
    },
  };
}

function begin(
  connection: SqliteConnection,
  index: Pick<IndexWriter, "followAccesses">,
  workspaceId: string,
  page: number,
): Sweep {
  const all: Query = (sql, ...values) => connection.execute(sql, [workspaceId, ...values]).rows;
  const sweep: Sweep = { used: new NumberSet(), job: work(), accesses: 0, lists: 0 };
  return sweep;

  function* work(): Generator<void> {
    yield* walkItems(all, page, sweep.used);
    yield* walkChildren(all, page, sweep.used);
    const accesses = "select aclId from accesses where workspaceId = ? and aclId > ? order by aclId limit ?";
    for (const rows of readPages(all, accesses, { aclId: 0 }, page)) {
      for (const aclId of rows.map((row) => Number(row["aclId"])).filter((id) => !sweep.used.has(id))) {
        all("delete from accesses where workspaceId = ? and aclId = ?", aclId);
        sweep.accesses++;
      }
      yield;
    }
    yield* index.followAccesses(workspaceId);
    yield* sweepLists(all, page, sweep);
  }
}

/**
 * Visits every row of the workspace, removed ones too, by a covering index. A row that changes its position in the
 * index during the walk was written, so its access was recorded.
 */
function* walkItems(all: Query, page: number, used: NumberSet): Generator<void> {
  const items = "select updatedAt, kbId, aclId from items indexed by items_by_updated where workspaceId = ?";
  const undated = `${items} and updatedAt is null and kbId > ? order by kbId limit ?`;
  const dated = `${items} and (updatedAt, kbId) > (?, ?) order by updatedAt, kbId limit ?`;
  for (const [query, start] of [
    [undated, { kbId: "" }],
    [dated, { updatedAt: Number.MIN_SAFE_INTEGER, kbId: "" }],
  ] as const) {
    for (const rows of readPages(all, query, start, page)) {
      for (const row of rows) used.add(Number(row["aclId"]));
      yield;
    }
  }
}

/** Visits the accesses that children name themselves. In every other row, that is the row's effective access. */
function* walkChildren(all: Query, page: number, used: NumberSet): Generator<void> {
  const children = `select kbId, ownAclId from items indexed by items_by_own_access where workspaceId = ?
    and parentExternalId is not null and ownAclId is not null and kbId > ? order by kbId limit ?`;
  for (const rows of readPages(all, children, { kbId: "" }, page)) {
    for (const row of rows) used.add(Math.max(0, Number(row["ownAclId"])));
    yield;
  }
}

function* sweepLists(all: Query, page: number, sweep: Sweep): Generator<void> {
  const used = new NumberSet();
  let known = 0;
  /** Adds the lists of accesses that were created since the last call. @returns false when there may be more */
  const learn = (): boolean => {
    const query = "select aclId, listIds from accesses where workspaceId = ? and aclId > ? order by aclId limit ?";
    const rows = all(query, known, page);
    for (const row of rows) for (const listId of String(row["listIds"]).split(",")) used.add(Number(listId));
    known = Number(rows.at(-1)?.["aclId"] ?? known);
    return rows.length < page;
  };
  while (!learn()) yield;
  yield;
  const lists =
    "select listId, principals from access_lists where workspaceId = ? and listId > ? order by listId limit ?";
  for (const rows of readPages(all, lists, { listId: 0 }, page)) {
    // Writes that happened between two slices are taken into account before this slice deletes anything.
    while (!learn());
    for (const row of rows) {
      if (used.has(Number(row["listId"]))) continue;
      deleteList(all, Number(row["listId"]), String(row["principals"]));
      sweep.lists++;
    }
    if (rows.length === page) yield;
  }
}

/** Deletes a list, and the principals that no list names any more. */
function deleteList(all: Query, listId: number, principals: string): void {
  const named = "from access_principals where workspaceId = ?1 and principal in (select value from json_each(?2))";
  all(
    `delete from access_list_principals where listId = ?3 and principalNo in (select principalNo ${named})`,
    principals,
    listId,
  );
  all(
    `delete ${named} and not exists (
       select 1 from access_list_principals as lists where lists.principalNo = access_principals.principalNo)`,
    principals,
  );
  all("delete from access_lists where workspaceId = ? and listId = ?", listId);
}
