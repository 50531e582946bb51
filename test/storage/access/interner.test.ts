import { onTestFinished, test } from "vitest";
import type { Principal } from "#core/principals.ts";
import { makeConjoin } from "#storage/batch/conjunction.ts";
import { makeInterner } from "#storage/batch/intern.ts";
import { openWriter } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";
import { makeWorld } from "./fixtures.ts";
import { internAll } from "./intern.ts";

const accessOf = (n: number) => ({
  known: true as const,
  all: [[`group:con_a:${n}` as Principal, "everyone" as const]],
});
const ALWAYS: Principal[] = ["group:connector:con_a"];

/** An interner for each transaction, and the rows. */
async function open() {
  const world = await makeWorld();
  const workspaceId = await world.workspace();
  const connection = openWriter(world.database.file, "normal");
  onTestFinished(() => connection.close());
  const count = (table: string) => connection.execute(`select count(*) as n from ${table}`, []).rows[0]?.["n"];
  const inOne = <T>(work: (interner: ReturnType<typeof makeInterner>) => T): T =>
    inTransaction(connection.raw, () => work(makeInterner(connection, workspaceId)));
  return { world, workspaceId, connection, count, inOne };
}

test("more new accesses than wait, and than are kept in mind, have the same numbers when they are named again", async ({
  expect,
}) => {
  const { count, inOne } = await open();
  const all = Array.from({ length: 12_000 }, (_, n) => accessOf(n));
  const [first, again] = inOne((interner) => {
    const numbers = [all, all].map((each) => each.map((access) => interner.access(access, ALWAYS)));
    interner.save();
    return numbers;
  });
  expect(new Set(first).size).toBe(12_000);
  expect(again).toEqual(first);
  expect(inOne((interner) => all.map((access) => interner.access(access, ALWAYS)))).toEqual(first);
  expect(["accesses", "access_lists", "access_list_principals"].map(count)).toEqual([12_000, 12_001, 24_001]);
  expect(count("access_principals")).toBe(12_002);
});

test("what is new costs no statement until it is saved, and can be joined before", async ({ expect }) => {
  const { count, inOne, world, workspaceId } = await open();
  const joined = inOne((interner) => {
    const [a, b] = [interner.access(accessOf(1), ALWAYS), interner.access(accessOf(2), ALWAYS)];
    const both = makeConjoin(interner)(a, b);
    expect(count("accesses")).toBe(0);
    interner.save();
    return both;
  });
  expect(await world.store.in(workspaceId).access.listsOf(joined)).toEqual([
    ["everyone", "group:con_a:1"],
    ["group:connector:con_a"],
    ["everyone", "group:con_a:2"],
  ]);
});

test("a new access is written at once where it is to be read", async ({ expect }) => {
  const { inOne, world, workspaceId } = await open();
  const aclId = inOne((interner) => {
    const number = interner.access(accessOf(1), ALWAYS);
    interner.save(number + 1);
    interner.save(number);
    return number;
  });
  expect(await world.store.in(workspaceId).access.listsOf(aclId)).toHaveLength(2);
});

test("numbers go on after those that were given before", async ({ expect }) => {
  const { inOne } = await open();
  const numberOf = (n: number) =>
    inOne((interner) => {
      const aclId = interner.access(accessOf(n), ALWAYS);
      interner.save();
      return aclId;
    });
  expect([numberOf(1), numberOf(2), numberOf(1), numberOf(3)]).toEqual([1, 2, 1, 3]);
});

test("a number is one principal's of one workspace, also after a rollback and after the list went", async ({
  expect,
}) => {
  const { world, connection, inOne } = await open();
  const other = await world.workspace("Other");
  const numbers = () => {
    const { rows } = connection.execute("select workspaceId, principal, principalNo from access_principals", []);
    return new Map(
      rows.map((row) => [`${String(row["workspaceId"])} ${String(row["principal"])}`, row["principalNo"]]),
    );
  };
  const give = (n: number) => inOne((interner) => void (interner.access(accessOf(n), ALWAYS), interner.save()));
  give(1);
  const first = numbers();
  expect(() =>
    inOne((interner) => {
      interner.access(accessOf(2), ALWAYS);
      interner.save();
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(numbers()).toEqual(first);
  internAll(world.database, other, [accessOf(1)], ALWAYS);
  give(3);
  const all = numbers();
  expect(all.size).toBe(3 + 3 + 1);
  expect(new Set(all.values()).size).toBe(all.size);
  for (const [name, number] of first) expect(all.get(name)).toBe(number);
});
