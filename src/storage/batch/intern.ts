import type { Principal, SourceAccess } from "#core/principals.ts";
import { listDigest } from "#storage/access/list-digest.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { numberPrincipals } from "./principal-numbers.ts";

export type Interner = ReturnType<typeof makeInterner>;

/** What one transaction keeps in mind, at most: texts of lists may be long. */
const KEPT = 10_000;
/** New lists, or accesses, that wait for `save` at most. */
const WAITING = 1_000;

/**
 * Gives accesses and their lists numbers, in the transaction that is open: for one transaction only. Equal accesses have
 * equal numbers, in whatever order their lists and principals are named; numbers only grow and are never reused. What is
 * new is written by `save`, many at once: one by one it was nine statements for each access.
 * Source: S4.
 */
export function makeInterner(connection: SqliteConnection, workspaceId: string) {
  const lists = new Map<string, number>();
  const accesses = new Map<string, number>();
  /** Of what is new and not written: lists, and the lists of accesses. */
  const newLists = new Map<number, NewList>();
  const newAccesses = new Map<number, string>();
  const findList = connection.prepare(
    `select listId as id from access_lists indexed by access_lists_by_digest
     where digest = ? and workspaceId = ? and principals = ?`,
  );
  const findAccess = connection.prepare("select aclId as id from accesses where workspaceId = ? and listIds = ?");
  let next: Numbers | undefined;

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
      const ids = [...new Set(listIds)].sort((a, b) => a - b);
      const key = ids.join(",");
      return kept(accesses, key, () => {
        // A list that is not written yet stands in no access that is.
        const isNew = newLists.has(ids.at(-1) ?? 0);
        const found = isNew ? undefined : idOf(findAccess.get(workspaceId, key));
        return found ?? addAccess(key);
      });
    },

    /** The numbers of an access's lists; none = there is no such access. */
    listIdsOf(aclId: number): number[] {
      const query = "select listIds from accesses where workspaceId = ? and aclId = ?";
      const listIds = newAccesses.get(aclId) ?? connection.execute(query, [workspaceId, aclId]).rows[0]?.["listIds"];
      return listIds === undefined ? [] : String(listIds).split(",").map(Number);
    },

    /**
     * Writes what is new; call it before the transaction ends, and before accesses are read by anything else.
     *
     * @param aclId nothing is written where this one is
     */
    save(aclId?: number): void {
      const isNeeded = aclId === undefined ? newLists.size + newAccesses.size > 0 : newAccesses.has(aclId);
      if (next === undefined || !isNeeded) return;
      saveLists();
      saveAccesses();
      connection
        .prepare(
          `insert into access_state (workspaceId, epoch, nextListId, nextAclId) values (?, 1, ?, ?)
           on conflict do update set nextListId = excluded.nextListId, nextAclId = excluded.nextAclId`,
        )
        .run(workspaceId, next.listId, next.aclId);
    },
  };
  return store;

  function list(named: readonly Principal[]): number {
    const principals = [...new Set(named)].sort();
    const text = JSON.stringify(principals);
    return kept(lists, text, () => {
      const digest = listDigest(workspaceId, text);
      return idOf(findList.get(digest, workspaceId, text)) ?? addList({ principals, text, digest });
    });
  }

  function addList(added: NewList): number {
    const listId = numbers().listId++;
    newLists.set(listId, added);
    if (newLists.size >= WAITING) store.save();
    return listId;
  }

  function addAccess(key: string): number {
    const aclId = numbers().aclId++;
    newAccesses.set(aclId, key);
    if (newAccesses.size >= WAITING) store.save();
    return aclId;
  }

  function saveLists(): void {
    const add = connection.prepare(
      "insert into access_lists (workspaceId, listId, principals, digest) values (?, ?, ?, ?)",
    );
    for (const [listId, { text, digest }] of newLists) add.run(workspaceId, listId, text, digest);
    const numberOf = numberPrincipals(connection, workspaceId, newLists.values());
    const rows = [...newLists].flatMap(([listId, { principals }]) =>
      principals.map((principal) => [numberOf(principal), listId] as const),
    );
    newLists.clear();
    // In the order of the table's key, so that each of its pages is met once.
    rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    connection
      .prepare(
        "insert into access_list_principals (principalNo, listId) select value ->> 0, value ->> 1 from json_each(?)",
      )
      .run(JSON.stringify(rows));
  }

  function saveAccesses(): void {
    const all = JSON.stringify([...newAccesses]);
    newAccesses.clear();
    connection
      .prepare(
        `insert into accesses (workspaceId, aclId, listIds)
         select ?1, value ->> 0, value ->> 1 from json_each(?2) order by 2`,
      )
      .run(workspaceId, all);
  }

  /** The next numbers, of counters that only grow. */
  function numbers(): Numbers {
    const query = "select nextListId as listId, nextAclId as aclId from access_state where workspaceId = ?";
    // The columns that are asked for.
    next ??= (connection.prepare(query).get(workspaceId) as Numbers | undefined) ?? { listId: 1, aclId: 1 };
    return next;
  }

  function kept(known: Map<string, number>, key: string, find: () => number): number {
    const found = known.get(key) ?? find();
    if (known.size >= KEPT) {
      // What is not written is known here only.
      store.save();
      known.clear();
    }
    known.set(key, found);
    return found;
  }
}

/** A list that is not written: its principals, each once and sorted, and what it is found by. */
interface NewList {
  principals: readonly Principal[];
  text: string;
  digest: number;
}

/** What the next list and the next access get. */
interface Numbers {
  listId: number;
  aclId: number;
}

function idOf(row: unknown): number | undefined {
  // One row of a statement that gives a number as `id`.
  return row === undefined ? undefined : Number((row as { id: number }).id);
}
