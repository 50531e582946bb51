import { afterAll, beforeAll, expect, test } from "vitest";
import { isOpen, meets, meetsEvery, metBy } from "#storage/access/decision.ts";
import { listsMet } from "#storage/access/decision-sql.ts";
import { makeStatements } from "#storage/index/sqlite.ts";
import { writeChunks } from "#storage/index/visibility/access-chunks.ts";
import { AccessTable } from "#storage/index/visibility/access-table.ts";
import { TestIndex } from "../index/world.ts";
import { ACCESSES, isOpenByTheBook, SETS } from "./small-worlds.ts";

/** Number of the index's rows for the workspace. */
const NO = 1;

let world: TestIndex;
/** Numbers of the lists, in the order of `SETS`, and of each access. */
const listIds = new Map<string, number>();
const idOf = (list: readonly string[]) => listIds.get(JSON.stringify(list)) ?? 0;

beforeAll(() => {
  world = new TestIndex();
  // Lists of the same numbers in another workspace, each naming whom ours does not.
  const others = SETS.toReversed();
  world.transaction(() => {
    SETS.forEach((list, i) => {
      listIds.set(JSON.stringify(list), i + 1);
      world.access("w1", 10_000 + i, [list]);
      world.access("w2", 10_000 + i, [others[i] ?? []]);
    });
    // An empty list and an access without lists can't be stored by the service: here they can, and open to nobody.
    ACCESSES.forEach((lists, i) => world.access("w1", i + 1, lists));
  });
});

afterAll(() => world.close());

/** The lists above a number that SQL says are met. */
function metBySql(held: readonly string[], after = 0, sql = listsMet): Set<number> {
  const rows = world.db.prepare(sql(held.length)).all("w1", ...held, after);
  return new Set(rows.map((row) => Number(row.listId)));
}

/** Every list for everybody, where SQL and memory do not agree. */
function differencesOfLists(sql = listsMet, inMemory = meets): string[] {
  const found: string[] = [];
  for (const held of SETS) {
    for (let after = 0; after <= SETS.length; after++) {
      const met = metBySql(held, after, sql);
      for (const list of SETS) {
        const expected = idOf(list) > after && inMemory(list, new Set(held));
        if (met.has(idOf(list)) !== expected) found.push(`${list.join()} for ${held.join()} after ${after}`);
      }
    }
  }
  return found;
}

type Decision = typeof isOpen;

/** Every access for everybody, where the decision on what SQL says differs from that on names, or either from the book. */
function differencesOfAccesses(decide: Decision = isOpen, sql = listsMet): string[] {
  const found: string[] = [];
  for (const held of SETS) {
    const met = metBySql(held, 0, sql);
    for (const lists of ACCESSES) {
      const verdicts = [
        decide(lists.map(idOf), (listId) => met.has(listId)),
        decide(lists, (list) => meets(list, new Set(held))),
      ];
      const expected = isOpenByTheBook(lists, held);
      if (verdicts.some((verdict) => verdict !== expected)) found.push(`${JSON.stringify(lists)} for ${held.join()}`);
    }
  }
  return found;
}

test("SQL and memory meet the same lists, for every list and everyone over three principals", () => {
  expect(listIds.size).toBe(8);
  expect(differencesOfLists()).toEqual([]);
});

test("on lists met by SQL and on names, every access of at most three lists is decided alike", () => {
  expect(differencesOfAccesses()).toEqual([]);
  for (const held of SETS) {
    for (const lists of ACCESSES) expect(meetsEvery(lists, new Set(held))).toBe(isOpenByTheBook(lists, held));
  }
});

test.each([
  ["those of another workspace", (n: number) => listsMet(n).replace("named.workspaceId = ?", "? <> ''")],
  ["everyone but those named", (n: number) => listsMet(n).replace("named.principal IN", "named.principal NOT IN")],
  ["one principal only", (n: number) => listsMet(n).replaceAll(", ?", ") AND ? NOT IN (''")],
  ["another principal's number", (n: number) => listsMet(n).replace("= named.principalNo", "<> named.principalNo")],
  ["a wrong mark", (n: number) => listsMet(n).replace("listId >", "listId >=")],
  ["nothing at all", (n: number) => listsMet(n).replace("named.principal IN", "1 OR named.principal IN")],
])("a planted SQL form that meets lists by %s is seen", (_, sql) => {
  expect(differencesOfLists(sql)).not.toEqual([]);
});

const everyOf = <List>(lists: ArrayLike<List>, isMet: (list: List) => boolean) => Array.from(lists).every(isMet);

test.each<[string, Decision]>([
  ["opens what has no lists", everyOf],
  ["is content with one list", (lists, isMet) => Array.from(lists).some(isMet)],
  [
    "forgets the last list",
    (lists, isMet) => isOpen(lists, isMet, 0, lists.length > 1 ? lists.length - 1 : lists.length),
  ],
  ["forgets the first list", (lists, isMet) => isOpen(lists, isMet, lists.length > 1 ? 1 : 0)],
  ["lets in no one", () => false],
])("a planted decision that %s is seen", (_, decide) => {
  expect(differencesOfAccesses(decide)).not.toEqual([]);
});

test("the index's table of accesses decides alike, read as rows or from chunks, one access or all at once", () => {
  const sql = makeStatements(world.db);
  const makeTable = () => {
    const table = new AccessTable(sql, "w1", NO);
    table.refresh();
    return table;
  };
  const byRows = makeTable();
  world.transaction(() => {
    for (const _ of writeChunks(sql, "w1", NO, 100));
  });
  expect(Number(world.db.prepare("SELECT count(*) AS n FROM index_acl_chunks").get().n)).toBeGreaterThan(4);
  const different: string[] = [];
  for (const table of [byRows, makeTable()]) {
    for (const held of SETS) {
      const met = new Uint32Array(1);
      for (const listId of metBySql(held)) setBit(met, listId);
      const opened = table.openTo(met);
      for (const [i, lists] of ACCESSES.entries()) {
        const expected = isOpenByTheBook(lists, held);
        const verdicts = [table.isOpen(met, i + 1), hasBit(opened, i + 1)];
        if (verdicts.some((verdict) => verdict !== expected))
          different.push(`${JSON.stringify(lists)}: ${verdicts.join()}`);
      }
      expect([0, 700, 99_999].map((aclId) => table.isOpen(met, aclId))).toEqual([false, false, false]);
    }
  }
  expect(different).toEqual([]);
});

function setBit(bits: Uint32Array, n: number): void {
  bits[n >>> 5] = (bits[n >>> 5] ?? 0) | (1 << (n & 31));
}

function hasBit(bits: Uint32Array, n: number): boolean {
  return (((bits[n >>> 5] ?? 0) >>> (n & 31)) & 1) === 1;
}

test("what meets a list is the first of its principals that someone holds", () => {
  expect(metBy(["user:a", "user:b", "user:c"], new Set(["user:c", "user:b"]))).toBe("user:b");
  expect(metBy(["user:a"], new Set(["user:c"]))).toBeUndefined();
});
