import { describe, test } from "vitest";
import { makeAfterwards } from "#server/identity/mail/afterwards.ts";
import { makeTestLog } from "../../../helpers.ts";

describe("work after the answer", () => {
  test("begins when the caller's turn is over, four at a time, and all of it is waited for", async ({ expect }) => {
    const afterwards = makeAfterwards({ log: makeTestLog() });
    let running = 0;
    const seen: number[] = [];
    for (let i = 0; i < 10; i++) {
      afterwards.run("counting", async () => {
        seen.push(++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
      });
    }
    expect(seen).toEqual([]);
    await afterwards.idle();
    expect(seen).toHaveLength(10);
    expect(Math.max(...seen)).toBe(4);
    await afterwards.idle();
  });

  test("that fails is logged by name and stops nothing else", async ({ expect }) => {
    const log = makeTestLog();
    const afterwards = makeAfterwards({ log });
    const done: string[] = [];
    afterwards.run("the first thing", () => Promise.reject(new Error("no")));
    afterwards.run("the second thing", async () => void done.push("second"));
    await afterwards.idle();
    expect(log.lines).toEqual([{ level: "warn", fields: { error: "no" }, message: "the first thing failed" }]);
    expect(done).toEqual(["second"]);
  });

  test("beyond a thousand waiting is dropped with a line in the log", async ({ expect }) => {
    const log = makeTestLog();
    const afterwards = makeAfterwards({ log });
    let count = 0;
    for (let i = 0; i < 1_002; i++) afterwards.run("a mail", async () => void count++);
    await afterwards.idle();
    expect(count).toBe(1_000);
    expect(log.lines.map(({ message }) => message)).toEqual(Array(2).fill("a mail was dropped: too much is waiting"));
  });
});
