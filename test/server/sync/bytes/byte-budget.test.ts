import { setMaxListeners } from "node:events";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Held, makeByteBudget } from "#server/sync/bytes/byte-budget.ts";

const never = new AbortController().signal;
setMaxListeners(0, never);
const settle = () => new Promise((resolve) => setImmediate(resolve));
const asker = (workspaceId: string, connectorId: string) => ({ workspaceId, connectorId });

/** Enters, and tells in `passed` when it is in. */
function enter(
  line: ReturnType<ReturnType<typeof makeByteBudget>["open"]>,
  name: string,
  bytes: number,
  passed: string[],
) {
  const entered = line.take().enter(bytes, never);
  void entered.then(() => passed.push(name));
  return entered;
}

describe("the budget of bytes", () => {
  test("all runs together never hold more than the limit, and all come through, whatever order their items are ready in", async () => {
    const items = fc.array(fc.record({ bytes: fc.nat(150), slow: fc.nat(3), text: fc.nat(100) }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(items, { minLength: 1, maxLength: 5 }), async (runs) => {
        const budget = makeByteBudget(100);
        let count = 0;
        await Promise.all(
          runs.map(async (run, at) => {
            const line = budget.open(asker(`wsp_${at % 2}`, `con_${at}`));
            let former: Promise<unknown> = Promise.resolve();
            const all = run.map(async ({ bytes, slow, text }) => {
              const place = line.take();
              const before = former;
              let stored: () => void = () => undefined;
              former = new Promise<void>((resolve) => (stored = resolve));
              // Some are ready late, as what comes from a slow server.
              for (let i = 0; i < slow; i++) await settle();
              const held = await place.enter(bytes, never);
              count += 1;
              // The limit, or one alone.
              expect(budget.held).toBeLessThanOrEqual(150);
              held.resize(Math.floor((bytes * text) / 100));
              await settle();
              // Stored in their order, as a run stores its items.
              await before;
              held.release();
              held.release();
              stored();
            });
            await Promise.all(all);
            line.close();
          }),
        );
        expect(budget.held).toBe(0);
        expect(count).toBe(runs.flat().length);
      }),
      { numRuns: 60 },
    );
  });

  test("what is larger than the limit passes alone", async () => {
    const budget = makeByteBudget(10);
    const passed: string[] = [];
    const line = budget.open(asker("wsp_1", "con_1"));
    const small = await enter(line, "small", 3, passed);
    const large = enter(line, "large", 50, passed);
    await settle();
    expect(passed).toEqual(["small"]);
    small.release();
    await large;
    const next = enter(line, "next", 1, passed);
    await settle();
    expect(passed).toEqual(["small", "large"]);
    (await large).release();
    await next;
  });

  test("a text that is longer than was thought waits for nothing, and keeps others out", async () => {
    const budget = makeByteBudget(10);
    const line = budget.open(asker("wsp_1", "con_1"));
    const held = await line.take().enter(1, never);
    held.resize(50);
    const passed: string[] = [];
    const next = enter(line, "next", 1, passed);
    await settle();
    expect(passed).toEqual([]);
    held.resize(9);
    await next;
  });

  test("turns go by workspace, then by connector, however many wait in one", async () => {
    const budget = makeByteBudget(10);
    const passed: string[] = [];
    const held: Promise<Held>[] = [];
    const first = await budget.open(asker("wsp_x", "con_x")).take().enter(10, never);
    const lines = { a1: ["wsp_a", "con_1"], a2: ["wsp_a", "con_2"], b: ["wsp_b", "con_3"] } as const;
    for (const [name, [workspaceId, connectorId]] of Object.entries(lines)) {
      const line = budget.open(asker(workspaceId, connectorId));
      for (let i = 0; i < 3; i++) held.push(enter(line, name, 10, passed));
    }
    first.release();
    for (let i = 0; i < held.length; i++) {
      await settle();
      expect(passed).toHaveLength(i + 1);
      for (const each of held) void each.then(({ release }) => release());
      await settle();
      if (passed.length === held.length) break;
    }
    await Promise.all(held);
    expect(passed.slice(0, 6).filter((name) => name === "b")).toHaveLength(3);
    expect(passed.slice(0, 4).toSorted()).toEqual(["a1", "a2", "b", "b"]);
  });

  test("a place gets no room before those in front of it, and one that is left is passed over", async () => {
    const budget = makeByteBudget(100);
    const line = budget.open(asker("wsp_1", "con_1"));
    const [one, two, three] = [line.take(), line.take(), line.take()];
    const passed: number[] = [];
    void three.enter(1, never).then(() => passed.push(3));
    void two.enter(1, never).then(() => passed.push(2));
    await settle();
    expect(passed).toEqual([]);
    one.release();
    await settle();
    expect(passed).toEqual([2, 3]);
  });

  test("who gives up waits no longer and keeps no one out; the end of a run gives everything back", async () => {
    const budget = makeByteBudget(10);
    const line = budget.open(asker("wsp_1", "con_1"));
    const abort = new AbortController();
    await line.take().enter(10, never);
    const waiting = line.take().enter(10, abort.signal);
    const other = budget.open(asker("wsp_2", "con_2"));
    const passed: string[] = [];
    const entered = enter(other, "other", 10, passed);
    abort.abort(new Error("The sync has ended."));
    await expect(waiting).rejects.toThrow("The sync has ended.");
    line.close();
    await entered;
    expect(budget.held).toBe(10);
    other.close();
    expect(budget.held).toBe(0);
  });
});
