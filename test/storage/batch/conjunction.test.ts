import { test } from "vitest";
import { makeConjoin } from "#storage/batch/conjunction.ts";
import type { Interner } from "#storage/batch/intern.ts";

test("whom both let in has the lists of both, each once, 64 at most; more are no one's", ({ expect }) => {
  const range = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n);
  const accesses: Record<number, number[]> = { 1: range(1, 32), 2: range(33, 32), 3: range(33, 33), 4: [1, 2], 5: [] };
  const made: number[][] = [];
  const interner: Pick<Interner, "listIdsOf" | "ofLists"> = {
    listIdsOf: (aclId) => accesses[aclId] ?? [],
    ofLists: (lists) => 100 + made.push([...lists]),
  };
  // Nothing else of it is asked.
  const conjoin = makeConjoin(interner as Interner);
  expect(conjoin(1, 2)).toBe(101);
  expect(made[0]).toEqual(range(1, 64));
  expect([conjoin(2, 1), made.length]).toEqual([101, 1]);
  expect(conjoin(1, 3)).toBe(0);
  expect(conjoin(1, 4)).toBe(102);
  expect(made[1]).toEqual(range(1, 32));
  expect([conjoin(4, 4), conjoin(0, 1), conjoin(1, -1), conjoin(1, 5), conjoin(5, 1)]).toEqual([4, 0, 0, 0, 0]);
  expect(made).toHaveLength(2);
});
