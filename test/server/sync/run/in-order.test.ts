import * as fc from "fast-check";
import { describe, test } from "vitest";
import { inOrder } from "#server/sync/run/in-order.ts";

async function* from<T>(values: readonly T[], onEnd?: () => void): AsyncGenerator<T, void> {
  try {
    for (const value of values) yield value;
  } finally {
    onEnd?.();
  }
}

const limits = { parallel: 3, window: 5, release() {} };

describe("work in order", () => {
  test("gives results in the order of the events, whatever finishes first", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(4)), fc.integer({ min: 1, max: 4 }), async (delays, parallel) => {
        let busy = 0;
        let most = 0;
        const work = (ticks: number, at: number) => {
          if (ticks === 0) return at;
          return (async () => {
            most = Math.max(most, ++busy);
            for (let i = 0; i < ticks; i++) await Promise.resolve();
            busy--;
            return at;
          })();
        };
        const events = from(delays.map((ticks, at) => [ticks, at] as const));
        const results: number[] = [];
        const steps = inOrder(events, ([ticks, at]) => work(ticks, at), { ...limits, parallel });
        for await (const result of steps) results.push(result);
        expect(results).toEqual(delays.map((_, at) => at));
        expect(most).toBeLessThanOrEqual(parallel);
      }),
    );
  });

  test("a failure is thrown at its place, after everything before it", async ({ expect }) => {
    const seen: number[] = [];
    let isEnded = false;
    const events = from([1, 2, 3, 4], () => (isEnded = true));
    const work = async (n: number) => {
      if (n === 3) throw new Error("third");
      await new Promise((resolve) => setImmediate(resolve));
      return n;
    };
    const all = (async () => {
      for await (const n of inOrder(events, work, limits)) seen.push(n);
    })();
    await expect(all).rejects.toThrow("third");
    expect([seen, isEnded]).toEqual([[1, 2], true]);
  });

  test("a consumer that leaves ends the events and frees the ones that wait", async ({ expect }) => {
    let isEnded = false;
    let isReleased = false;
    const release = () => void (isReleased = true);
    const steps = inOrder(
      from([1, 2, 3, 4, 5, 6, 7, 8, 9], () => (isEnded = true)),
      (n) => n,
      { parallel: 1, window: 2, release },
    );
    for await (const n of steps) if (n === 2) break;
    expect([isEnded, isReleased]).toEqual([true, true]);
  });

  test("reads no further ahead than the window", async ({ expect }) => {
    let read = 0;
    async function* endless(): AsyncGenerator<number, void> {
      for (;;) yield read++;
    }
    const steps = inOrder(endless(), (n) => n, { parallel: 2, window: 4, release() {} });
    await steps.next();
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(read).toBeLessThanOrEqual(6);
    await steps.return();
  });
});
