import * as fc from "fast-check";
import { describe, test } from "vitest";
import { makeByteGate } from "#server/sync/bytes/byte-gate.ts";

const never = new AbortController().signal;
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("the gate for bytes in flight", () => {
  test("all pass in their order, never more than the limit at once unless one alone is larger", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(150), { maxLength: 40 }), async (sizes) => {
        const gate = makeByteGate(100);
        const order: number[] = [];
        const inside = new Set<number>();
        await Promise.all(
          sizes.map(async (size, n) => {
            const leave = await gate.enter(size, never);
            order.push(n);
            inside.add(n);
            const held = [...inside].reduce((sum, other) => sum + (sizes[other] ?? 0), 0);
            if (held > 100) expect([...inside].filter((other) => sizes[other] !== 0)).toEqual([n]);
            await settle();
            inside.delete(n);
            leave();
            leave();
          }),
        );
        expect(order).toEqual(sizes.map((_, n) => n));
      }),
      { numRuns: 50 },
    );
  });

  test("a caller that gives up is passed over and holds nothing", async ({ expect }) => {
    const gate = makeByteGate(10);
    const leave = await gate.enter(8, never);
    const abort = new AbortController();
    const large = gate.enter(10, abort.signal);
    const small = gate.enter(2, never);
    abort.abort(new Error("The sync has ended."));
    await expect(large).rejects.toThrow("The sync has ended.");
    (await small)();
    leave();
    (await gate.enter(10, never))();
    await expect(gate.enter(1, abort.signal)).rejects.toThrow("The sync has ended.");
  });
});
