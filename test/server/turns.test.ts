import { expect, test } from "vitest";
import { makeTurns } from "#server/turns.ts";

/** Turns of an event loop that the test moves. */
function makeLoop() {
  let due: (() => void)[] = [];
  const begun: string[] = [];
  const turns = makeTurns((callback) => due.push(callback));
  return {
    begun,
    ask: (sender: string, name: string) => turns.take(sender, () => begun.push(name)),
    async turn() {
      const now = due;
      due = [];
      for (const callback of now) callback();
      // Promises that were resolved go on.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test("a request alone begins at once, and so does the next after a turn", async () => {
  const loop = makeLoop();
  void loop.ask("a", "a1");
  expect(loop.begun).toEqual(["a1"]);
  await loop.turn();
  void loop.ask("a", "a2");
  expect(loop.begun).toEqual(["a1", "a2"]);
});

test("of a crowd one begins in each turn, and a later sender is not behind all of it", async () => {
  const loop = makeLoop();
  for (let n = 1; n <= 500; n++) void loop.ask("crowd", `c${n}`);
  expect(loop.begun).toEqual(["c1"]);
  void loop.ask("other", "o1");
  for (let n = 0; n < 3; n++) await loop.turn();
  expect(loop.begun).toHaveLength(4);
  expect(loop.begun).toContain("o1");
  for (let n = 0; n < 600; n++) await loop.turn();
  expect(loop.begun).toHaveLength(501);
});

test("gives what the work gives, and its failure", async () => {
  const turns = makeTurns();
  expect(await Promise.all([turns.take("a", () => 1), turns.take("a", async () => 2)])).toEqual([1, 2]);
  await expect(
    turns.take("a", () => {
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
});
