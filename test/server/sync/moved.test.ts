import { describe, expect, test } from "vitest";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { makeHarness, upsert } from "./harness.ts";

/** A connector whose source says these events, one list a run, the last one for every later run. */
async function runsOf(...runs: SyncEvent[][]) {
  let run = 0;
  const kb = await makeHarness(() => runs[Math.min(run++, runs.length - 1)] ?? []);
  const kbIds = async () =>
    Object.fromEntries(
      (await kb.items()).map((row) => [row.externalId, row.removedAt === null ? row.kbId : "removed"]),
    );
  return { kb, kbIds };
}

const end = (complete = false): SyncEvent => ({
  t: "end",
  listing: complete ? "complete" : "partial",
  permissions: complete ? "current" : "not_checked",
});
const gone = (externalId: string): SyncEvent => ({ t: "delete", externalId });

describe("an item that its source says has moved", () => {
  test("keeps its kbId though its text changed, and the former id is free", async () => {
    const { kb, kbIds } = await runsOf(
      [upsert("a", "text"), end()],
      [upsert("b", "other text", { formerId: "a" }), gone("a"), end()],
    );
    await kb.sync();
    const before = await kbIds();
    const sync = await kb.sync();
    expect(await kbIds()).toEqual({ b: before["a"] });
    expect(sync.counts).toMatchObject({ upserted: 1, deleted: 0 });
  });

  test("ends the same when the batch is replayed", async () => {
    const events = [upsert("c", "two", { formerId: "b" }), upsert("b", "one", { formerId: "a" }), gone("a"), end()];
    const { kb, kbIds } = await runsOf([upsert("a", "one"), upsert("b", "two"), end()], events);
    await kb.sync();
    const before = await kbIds();
    await kb.sync();
    const once = await kbIds();
    await kb.sync();
    const moved = { b: before["a"], c: before["b"] };
    expect([once, await kbIds()]).toEqual([moved, moved]);
  });

  test("does not take the place of a living one", async () => {
    const { kb, kbIds } = await runsOf(
      [upsert("a", "one"), upsert("b", "two"), end()],
      [upsert("a", "two", { formerId: "b" }), upsert("b", "one", { formerId: "a" }), end()],
    );
    await kb.sync();
    const before = await kbIds();
    await kb.sync();
    expect(await kbIds()).toEqual(before);
  });

  test("is a copy when the former was named by the same run", async () => {
    const { kb, kbIds } = await runsOf(
      [upsert("a", "one"), end()],
      [upsert("a", "one"), upsert("b", "one", { formerId: "a" }), end()],
    );
    await kb.sync();
    const before = await kbIds();
    await kb.sync();
    const after = await kbIds();
    expect(after["a"]).toBe(before["a"]);
    expect(after["b"]).not.toBe(before["a"]);
  });

  test("takes the place of one that was removed lately, which stays restorable", async () => {
    const { kb, kbIds } = await runsOf(
      [upsert("a", "one"), upsert("b", "two"), end()],
      [gone("a"), end()],
      [upsert("a", "two", { formerId: "b" }), gone("b"), end()],
    );
    await kb.sync();
    const before = await kbIds();
    await kb.sync();
    await kb.sync();
    expect(await kbIds()).toEqual({ a: before["b"], b: "removed" });
  });

  test("survives the sweep of a full listing that names it", async () => {
    const { kb, kbIds } = await runsOf(
      [upsert("a", "one"), end(true)],
      [upsert("b", "one more", { formerId: "a" }), end(true)],
    );
    await kb.sync("full");
    const before = await kbIds();
    await kb.sync("full");
    expect(await kbIds()).toEqual({ b: before["a"] });
  });

  test("is a new item when nothing is known of the former", async () => {
    const { kb, kbIds } = await runsOf([upsert("b", "one", { formerId: "a" }), end()]);
    await kb.sync();
    expect(Object.keys(await kbIds())).toEqual(["b"]);
  });
});
