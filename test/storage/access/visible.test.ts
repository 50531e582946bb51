import { expect, test } from "vitest";
import { makeVisibleCache } from "#storage/access/visible.ts";
import type { AccessStore } from "#storage/records/access.ts";

/** Accesses 1 to `count`, each of one list, which everybody's principals hold. `read` tells from where lists were read. */
function makeAccesses() {
  const state = { count: 0 };
  const read: string[] = [];
  const access = {
    marks: async () => ({ listId: 1, aclId: state.count }),
    listsHolding: async (principals: readonly string[], after: number) => {
      read.push(`${principals.join()} after ${after}`);
      return [1];
    },
    accessesAfter: async (after: number, limit: number) =>
      Array.from({ length: Math.min(limit, state.count - after) }, (_, i) => ({ aclId: after + i + 1, listIds: [1] })),
  } satisfies Partial<AccessStore>;
  // The members that the cache uses.
  return { state, read, access: access as unknown as AccessStore };
}

test("answers that grew count with what they take now, and the least recently used go", async () => {
  const { state, read, access } = makeAccesses();
  const cache = makeVisibleCache(1_000);
  const ask = async (who: string) => (await cache.of(access, who, [`user:${who}`])).has(state.count);
  state.count = 10;
  for (const who of ["a", "b", "a"]) await ask(who);
  expect(read).toEqual(["user:a after 0", "user:b after 0"]);
  // Half a thousand bytes and more for each: two no longer fit.
  state.count = 4_000;
  for (const who of ["a", "b"]) expect(await ask(who)).toBe(true);
  read.length = 0;
  expect(await ask("b")).toBe(true);
  expect(read).toEqual([]);
  expect(await ask("a")).toBe(true);
  expect(read).toEqual(["user:a after 0"]);
});
