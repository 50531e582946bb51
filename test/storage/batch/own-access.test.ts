import * as fc from "fast-check";
import { describe, test } from "vitest";
import type { ItemOp } from "#storage/item-batch.ts";
import { ACCESSES, ACTORS, anyStep, makeWorld, Model, put, toOps } from "./access-world.ts";

describe("who may read an item with parents", () => {
  test(
    "is whom its own access and every parent's let in, whatever came in which order",
    { timeout: 600_000 },
    async ({ expect }) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(anyStep, { minLength: 1, maxLength: 4 }), { minLength: 4, maxLength: 14 }),
          async (batches) => {
            const kb = await makeWorld();
            const model = new Model();
            for (const steps of batches) {
              await kb.apply(await toOps(kb, model, steps));
              for (const held of ACTORS) {
                const expected = model.visibleTo(held);
                expect(await kb.readable(held)).toEqual(expected);
                expect(await kb.found(held)).toEqual({ total: expected.length, found: expected });
              }
            }
          },
        ),
        { numRuns: Number(process.env["KB_TEST_ACCESS_RUNS"] ?? 8) },
      );
    },
  );

  test("is what counts at the end of a batch, whatever was true in the middle of it", async ({ expect }) => {
    const kb = await makeWorld();
    const [a, ab] = [ACCESSES[0] ?? null, ACCESSES[2] ?? null];
    await kb.apply([put("top", { parent: null, access: a }), put("middle", { parent: "top", access: ab })]);
    // The item is stored while the top is wide, and what stands between the two never changes.
    await kb.apply([
      { type: "access", externalId: "top", access: ab },
      put("item", { parent: "middle", access: ab }),
      put("below", { parent: "item", access: null }),
      { type: "access", externalId: "top", access: a },
    ]);
    const all = ["below", "item", "middle", "top"];
    expect([await kb.readable(["user:a"]), await kb.readable(["user:b"])]).toEqual([all, []]);
    expect(await kb.found(["user:b"])).toEqual({ total: 0, found: [] });
    // And the other way round: nothing stays hidden that was hidden in the middle only.
    await kb.apply([
      { type: "access", externalId: "top", access: { known: false } },
      put("item", { parent: "middle", access: ab, version: "2" }),
      { type: "access", externalId: "top", access: a },
    ]);
    expect((await kb.found(["user:a"])).found).toEqual(all);
  });

  test("of an item that nothing is in any more goes with what was in it, all in one transaction", async ({
    expect,
  }) => {
    const kb = await makeWorld();
    const a = ACCESSES[0] ?? null;
    const childless = put("file", { parent: null, access: a, version: "2" });
    if (childless.type !== "upsert") throw new Error("It is an upsert.");
    const ops: ItemOp[] = [
      put("file", { parent: null, access: a }),
      put("file!//x", { parent: "file", access: null }),
      put("file!//x!//y", { parent: "file!//x", access: null }),
      put("task", { parent: "file", access: a }),
    ];
    await kb.apply(ops);
    const all = ["file", "file!//x", "file!//x!//y", "task"];
    const versions = async () =>
      (await kb.items()).filter((row) => row.removedAt === null).map((row) => [row.externalId, row.version]);
    const before = await versions();
    // Another push came in between: nothing of the batch is stored.
    const overtaken: ItemOp = {
      type: "access",
      externalId: "task",
      access: a,
      of: { version: "9", parentExternalId: null },
    };
    await expect(kb.apply([{ ...childless, isChildless: true }, overtaken])).rejects.toMatchObject({
      code: "unavailable",
    });
    expect([await kb.readable(["user:a"]), await versions()]).toEqual([all, before]);
    await kb.apply([{ ...childless, isChildless: true }]);
    // What names it as its parent stays: that is no content of it.
    expect(await kb.readable(["user:a"])).toEqual(["file", "task"]);
    expect((await kb.found(["user:a"])).found).toEqual(["file", "task"]);
    expect(new Map((await versions()).map(([id, version]) => [id, version])).get("file")).toBe("2");
  });

  test("of a file that moved does not stay with what could not move along", async ({ expect }) => {
    const kb = await makeWorld();
    const a = ACCESSES[0] ?? null;
    const part = (of: string) => put(`${of}!//x`, { parent: of, access: null });
    await kb.apply([
      put("old", { parent: null, access: a }),
      part("old"),
      put("new", { parent: null, access: a }),
      part("new"),
    ]);
    await kb.apply([{ type: "delete", externalId: "new", subtree: false }]);
    const moved = put("new", { parent: null, access: { known: true, all: [["user:b"]] }, version: "2" });
    if (moved.type !== "upsert") throw new Error("It is an upsert.");
    await kb.apply([{ ...moved, item: { ...moved.item, formerExternalId: "old" } }]);
    expect(await kb.readable(["user:a"])).toEqual([]);
  });

  test("counts for a chain of 3,000 and for 2,000 children of one, without a limit of the stack", async ({
    expect,
  }) => {
    const kb = await makeWorld();
    const chain = Array.from({ length: 3_000 }, (_, at) =>
      put(`n${at}`, { parent: at === 0 ? null : `n${at - 1}`, access: at === 0 ? (ACCESSES[0] ?? null) : null }),
    );
    await kb.apply(chain);
    expect((await kb.readable(["user:a"])).length).toBe(17);
    await kb.apply([{ type: "access", externalId: "n0", access: { known: true, all: [["user:b"]] } }]);
    expect([(await kb.readable(["user:a"])).length, (await kb.readable(["user:b"])).length]).toEqual([0, 17]);
    const removed = await kb.apply([{ type: "delete", externalId: "n0", subtree: false }]);
    expect(removed).toMatchObject({ outcomes: ["removed"] });
    expect(await kb.readable(["user:b"])).toEqual([]);
    await kb.apply([put("top", { parent: null, access: ACCESSES[0] ?? null })]);
    await kb.apply(Array.from({ length: 2_000 }, (_, at) => put(`c${at}`, { parent: "top", access: null })));
    await kb.apply([{ type: "access", externalId: "top", access: { known: true, all: [["user:b"]] } }]);
    await kb.settleAll();
    expect([(await kb.readable(["user:a"])).length, (await kb.readable(["user:b"])).length]).toEqual([0, 2_001]);
  });
});
