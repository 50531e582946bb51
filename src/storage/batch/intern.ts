import type { Principal, SourceAccess } from "#core/principals.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";

export type Interner = ReturnType<typeof makeInterner>;

/** What one transaction keeps in mind, at most: texts of lists may be long. */
const KEPT = 10_000;

/**
 * Gives accesses and their lists numbers, in the transaction that is open: for one transaction only. Equal accesses have
 * equal numbers, in whatever order their lists and principals are named; numbers only grow and are never reused.
 * Source: S4.
 */
export function makeInterner(connection: SqliteConnection, workspaceId: string) {
  const lists = new Map<string, number>();
  const accesses = new Map<string, number>();
  const findList = connection.prepare("select listId as id from access_lists where workspaceId = ? and principals = ?");
  const findAccess = connection.prepare("select aclId as id from accesses where workspaceId = ? and listIds = ?");

  const store = {
    /**
     * The number of an access: the source's lists AND each of `always` (connector and connection groups). 0 = nobody, and
     * nobody AND anything is nobody.
     */
    access(access: SourceAccess, always: readonly Principal[]): number {
      if (!access.known || access.all.length === 0) return 0;
      const all = [...access.all, ...always.map((principal) => [principal])];
      if (all.some((list) => list.length === 0)) return 0;
      return store.ofLists(all.map(list));
    },

    /** The number of the access that has these lists, at least one. */
    ofLists(listIds: readonly number[]): number {
      const key = [...new Set(listIds)].sort((a, b) => a - b).join(",");
      return kept(accesses, key, () => idOf(findAccess.get(workspaceId, key)) ?? addAccess(key));
    },
  };
  return store;

  function list(named: readonly Principal[]): number {
    const principals = [...new Set(named)].sort();
    const text = JSON.stringify(principals);
    return kept(lists, text, () => idOf(findList.get(workspaceId, text)) ?? addList(text, principals));
  }

  function addList(text: string, principals: readonly Principal[]): number {
    const listId = takeNumber("nextListId");
    connection
      .prepare("insert into access_lists (workspaceId, listId, principals) values (?, ?, ?)")
      .run(workspaceId, listId, text);
    const add = connection.prepare(
      "insert into access_list_principals (workspaceId, principal, listId) values (?, ?, ?)",
    );
    for (const principal of principals) add.run(workspaceId, principal, listId);
    return listId;
  }

  function addAccess(key: string): number {
    const aclId = takeNumber("nextAclId");
    connection
      .prepare("insert into accesses (workspaceId, aclId, listIds) values (?, ?, ?)")
      .run(workspaceId, aclId, key);
    return aclId;
  }

  /** The next number of a counter that only grows. */
  function takeNumber(counter: "nextListId" | "nextAclId"): number {
    const update = `update access_state set ${counter} = ${counter} + 1 where workspaceId = ? returning ${counter} as id`;
    const next = idOf(connection.prepare(update).get(workspaceId));
    if (next !== undefined) return next - 1;
    connection
      .prepare("insert into access_state (workspaceId, epoch, nextListId, nextAclId) values (?, 1, 1, 1)")
      .run(workspaceId);
    return takeNumber(counter);
  }
}

function idOf(row: unknown): number | undefined {
  // One row of a statement that gives a number as `id`.
  return row === undefined ? undefined : Number((row as { id: number }).id);
}

function kept(known: Map<string, number>, key: string, find: () => number): number {
  const found = known.get(key) ?? find();
  if (known.size >= KEPT) known.clear();
  known.set(key, found);
  return found;
}
