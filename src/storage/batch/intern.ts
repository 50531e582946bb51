import type { Principal, SourceAccess } from "#core/principals.ts";
import { listDigest } from "#storage/access/list-digest.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { numberPrincipals } from "./principal-numbers.ts";

export type Interner = ReturnType<typeof makeInterner>;

/** Limit of entries that one transaction keeps in memory, because the texts of lists may be long. */
const KEPT = 10_000;
/** Limit of new lists, or accesses, that wait for `save`. */
const WAITING = 1_000;

/**
 * Assigns numbers to accesses and their lists in the open transaction; valid for one transaction only. Equal accesses
 * have equal numbers, whatever the order of their lists and principals. Numbers only grow and are never reused. `save`
 * writes many new ones at once, because writing them one by one took nine statements per access.
 * Source: S4.
 */
export function makeInterner(connection: SqliteConnection, workspaceId: string) {
  const lists = new Map<string, number>();
  const accesses = new Map<string, number>();
  /** Lists that are new and not written yet, and below, the lists of such accesses. */
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
     * Returns the number of an access: the source's lists AND each of `always` (connector and connection groups). 0 =
     * open to no one; an access that is open to no one stays so with `always`.
     */
    access(access: SourceAccess, always: readonly Principal[]): number {
      if (!access.known || access.all.length === 0) return 0;
      const all = [...access.all, ...always.map((principal) => [principal])];
      if (all.some((list) => list.length === 0)) return 0;
      return store.ofLists(all.map(list));
    },

    /** Returns the number of the access with these lists. There must be at least one list. */
    ofLists(listIds: readonly number[]): number {
      const ids = [...new Set(listIds)].sort((a, b) => a - b);
      const key = ids.join(",");
      return kept(accesses, key, () => {
        // No stored access can contain a list that isn't written yet.
        const isNew = newLists.has(ids.at(-1) ?? 0);
        const found = isNew ? undefined : idOf(findAccess.get(workspaceId, key));
        return found ?? addAccess(key);
      });
    },

    /** Returns the numbers of an access's lists; an empty array = the access doesn't exist. */
    listIdsOf(aclId: number): number[] {
      const query = "select listIds from accesses where workspaceId = ? and aclId = ?";
      const listIds = newAccesses.get(aclId) ?? connection.execute(query, [workspaceId, aclId]).rows[0]?.["listIds"];
      return listIds === undefined ? [] : String(listIds).split(",").map(Number);
    },

    /**
     * Writes new lists and accesses. Call it before the transaction ends, and before anything else reads accesses.
     *
     * @param aclId  an access that is needed; if it is already stored, nothing is written
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
    // Written in the order of the table's key, so that each page of the table is visited once.
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

  /** Takes the next numbers from counters that only grow. */
  function numbers(): Numbers {
    const query = "select nextListId as listId, nextAclId as aclId from access_state where workspaceId = ?";
    // The query selects exactly these columns.
    next ??= (connection.prepare(query).get(workspaceId) as Numbers | undefined) ?? { listId: 1, aclId: 1 };
    return next;
  }

  function kept(known: Map<string, number>, key: string, find: () => number): number {
    const found = known.get(key) ?? find();
    if (known.size >= KEPT) {
      // Unwritten entries exist only in this cache, so they are written before it is cleared.
      store.save();
      known.clear();
    }
    known.set(key, found);
    return found;
  }
}

/** An unwritten list: its principals, each once and sorted, and the digest by which it is looked up. */
interface NewList {
  principals: readonly Principal[];
  text: string;
  digest: number;
}

/** The numbers that the next list and the next access get. */
interface Numbers {
  listId: number;
  aclId: number;
}

function idOf(row: unknown): number | undefined {
  // The statement returns one row with a number as `id`.
  return row === undefined ? undefined : Number((row as { id: number }).id);
}
