import { describe, test } from "vitest";
import { makeVisibleCache } from "#storage/policy/visible.ts";
import type { AccessStore } from "#storage/records/access.ts";
import { internIn } from "../access/intern.ts";
import { makeWorld } from "../access/fixtures.ts";

/** The store's accesses, and of whom lists were read and from where. */
function watched(access: AccessStore): { access: AccessStore; read: string[] } {
  const read: string[] = [];
  const listsHolding: AccessStore["listsHolding"] = (principals, after) => {
    read.push(`${principals.join()} after ${after}`);
    return access.listsHolding(principals, after);
  };
  const accessTextAfter: AccessStore["accessTextAfter"] = (after, limit) => {
    read.push(`accesses after ${after}`);
    return access.accessTextAfter(after, limit);
  };
  return { access: { ...access, listsHolding, accessTextAfter }, read };
}

async function makeAccesses() {
  const world = await makeWorld();
  const workspaceId = await world.workspace();
  const { access } = world.store.in(workspaceId);
  const intern = (...all: string[][]) => internIn(world.database, workspaceId, { known: true, all });
  return { ...watched(access), intern };
}

test("who joins a group costs the lists of that group, who leaves one nothing, and both see what is so now", async ({
  expect,
}) => {
  const { access, read, intern } = await makeAccesses();
  const [a, b, both] = [intern(["a"]), intern(["b"]), intern(["a"], ["b", "c"])];
  const cache = makeVisibleCache();
  const ask = async (...principals: string[]) => {
    read.length = 0;
    const open = await cache.of(access, principals);
    return { open: [a, b, both].filter((aclId) => open.has(aclId)), read: [...read] };
  };
  expect(await ask("a", "x")).toEqual({ open: [a], read: ["a,x after 0", "accesses after 0"] });
  expect(await ask("a", "b", "x")).toEqual({ open: [a, b, both], read: ["b after 0"] });
  expect(await ask("a", "x")).toEqual({ open: [a], read: [] });
  expect(await ask("a", "c", "y")).toEqual({ open: [a, both], read: ["c,y after 0"] });
  const later = intern(["y"], ["c"]);
  const found = await cache.of(access, ["a", "c", "y"]);
  expect([a, b, both, later].map((aclId) => found.has(aclId))).toEqual([true, false, true, true]);
});

test("a state that is older than what is known takes nothing from a newer one", async ({ expect }) => {
  const { access, intern } = await makeAccesses();
  intern(["z"]);
  const old = await access.marks();
  const fresh = intern(["a"], ["b"]);
  const cache = makeVisibleCache();
  // Somebody else has read on.
  await cache.of(access, ["z"]);
  await cache.of({ ...access, marks: async () => old }, ["a", "b"]);
  expect((await cache.of(access, ["a", "b"])).has(fresh)).toBe(true);
});

test("what is kept is what fits, and the least recently used goes", async ({ expect }) => {
  const { access, read, intern } = await makeAccesses();
  const aclId = intern(["a", "b"]);
  const cache = makeVisibleCache(1_000);
  const ask = async (who: string) => (await cache.of(access, [who])).has(aclId);
  for (const who of ["a", "b", "a"]) expect(await ask(who)).toBe(true);
  expect(read).toEqual(["a after 0", "accesses after 0", "b after 0"]);
  for (let n = 0; n < 10; n++) expect(await ask(`other ${n}`)).toBe(false);
  read.length = 0;
  expect(await ask("b")).toBe(true);
  expect(read).toEqual(["b after 0"]);
});

test("however people join and leave while accesses come, the visible set is what the lists say", async ({ expect }) => {
  const { access, intern } = await makeAccesses();
  const names = Array.from({ length: 8 }, (_, n) => `p${n}`);
  const cache = makeVisibleCache(4_000);
  const held = new Set<string>();
  let state = 7;
  const pick = (below: number) => {
    state = Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e37_79b9;
    return (Math.imul(state ^ (state >>> 13), 3_266_489_917) >>> 8) % below;
  };
  const some = () => names.filter(() => pick(4) === 0).slice(0, 3);
  const accesses: { aclId: number; lists: string[][] }[] = [];
  for (let step = 0; step < 300; step++) {
    const name = names[pick(names.length)] ?? "";
    if (held.has(name)) held.delete(name);
    else held.add(name);
    if (pick(2) === 0) {
      const lists = [some(), some()].filter((list) => list.length > 0);
      if (lists.length > 0) accesses.push({ aclId: intern(...lists), lists });
    }
    const open = await cache.of(access, [...held].sort());
    const wrong = accesses.filter(
      ({ aclId, lists }) => open.has(aclId) !== lists.every((list) => list.some((principal) => held.has(principal))),
    );
    expect(wrong).toEqual([]);
  }
  expect(accesses.length).toBeGreaterThan(100);
});

test("two people who differ only in what no list names share what they see", async ({ expect }) => {
  const { access, intern } = await makeAccesses();
  intern(["a"]);
  const cache = makeVisibleCache();
  const open = await cache.of(access, ["a"]);
  expect(await cache.of(access, ["a", "x"])).toBe(open);
  expect(await cache.of(access, ["x"])).not.toBe(open);
});

describe("reading in pieces", () => {
  /** The store, which gives two accesses at a time and lists in no order. */
  function inPieces(access: AccessStore): AccessStore {
    return {
      ...access,
      accessTextAfter: (after) => access.accessTextAfter(after, 2),
      listsHolding: async (principals, after) =>
        new Map([...(await access.listsHolding(principals, after))].map(([name, lists]) => [name, lists.toReversed()])),
    };
  }

  test("finds what one piece would, also when two ask at once and more came meanwhile", async ({ expect }) => {
    const { access, read, intern } = await makeAccesses();
    const pieces = inPieces(access);
    const aclIds = ["a", "b", "a", "c", "a"].map((name, n) => intern([name, `x${n}`]));
    const cache = makeVisibleCache();
    const ask = async (...principals: string[]) => {
      const open = await cache.of(pieces, principals);
      return aclIds.filter((aclId) => open.has(aclId));
    };
    const ofA = [0, 2, 4].map((n) => aclIds[n]);
    expect(await Promise.all([ask("a"), ask("a"), ask("b", "c")])).toEqual([ofA, ofA, [aclIds[1], aclIds[3]]]);
    expect(read.filter((line) => line.startsWith("accesses")).length).toBeLessThan(9);
    for (let n = 5; n < 12; n++) aclIds.push(intern([n % 2 === 0 ? "a" : "b", `x${n}`]));
    expect(await ask("a")).toEqual([0, 2, 4, 6, 8, 10].map((n) => aclIds[n]));
    read.length = 0;
    expect(await ask("a")).toHaveLength(6);
    expect(read).toEqual([]);
  });

  test("ends where fewer accesses are there than numbers were given", async ({ expect }) => {
    const { access, intern } = await makeAccesses();
    const [a] = [intern(["a"]), intern(["b"])];
    const cache = makeVisibleCache();
    const marks = await access.marks();
    const open = await cache.of({ ...access, marks: async () => ({ ...marks, aclId: marks.aclId + 5 }) }, ["a"]);
    expect([open.has(a), open.has(marks.aclId + 1)]).toEqual([true, false]);
  });
});
