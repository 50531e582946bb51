import { join } from "node:path";
import { onTestFinished, test, vi } from "vitest";
import { openWriter } from "#storage/sqlite.ts";
import { makeSearchTally } from "#storage/search-tally.ts";
import { WriterEngine } from "#storage/writer/engine.ts";
import { makeUpkeepPace } from "#storage/writer/upkeep-pace.ts";
import { tempDir } from "../../temp-dir.ts";

test("nothing touches the connection after the engine was closed, upkeep included", async ({ expect }) => {
  const connection = openWriter(join(tempDir(), "kb.db"), "normal");
  const scheduled: (() => void)[] = [];
  let slices = 0;
  const engine = new WriterEngine({
    connection,
    procedures: new Map([["nothing", () => undefined]]),
    schedule: (run) => void scheduled.push(run),
    upkeep: () => ++slices > 0,
  });
  await engine.request({ type: "call", name: "nothing", args: {} }, "interactive");
  await new Promise((resolve) => setImmediate(resolve));
  expect(scheduled).toHaveLength(1);
  engine.close();
  connection.close();
  for (const run of scheduled) run();
  expect(slices).toBe(0);
});

test("upkeep that can wait gives way to searches; what is due, and what batches make, does not", async ({ expect }) => {
  const connection = openWriter(join(tempDir(), "kb.db"), "normal");
  const searches = makeSearchTally();
  let [now, due, slices] = [0, 2, 0];
  const engine = new WriterEngine({
    connection,
    procedures: new Map([["nothing", () => undefined]]),
    schedule: (run) => void setImmediate(run),
    upkeep: () => due-- > 0,
    tidy: () => ++slices > 0,
    pace: makeUpkeepPace(makeSearchTally(searches.memory), () => now),
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const slicesAfter = async (ms: number) => {
    now += ms;
    vi.advanceTimersByTime(ms);
    for (let turn = 0; turn < 6; turn++) await new Promise((resolve) => setImmediate(resolve));
    return slices;
  };
  searches.begin();
  await engine.request({ type: "call", name: "nothing", args: {} }, "batch");
  expect(await slicesAfter(0)).toBe(1);
  expect(due).toBeLessThan(0);
  expect(await slicesAfter(240)).toBe(1);
  expect(await slicesAfter(10)).toBe(2);
  expect(await slicesAfter(70)).toBe(2);
  // A gap between two searches.
  searches.end();
  expect(await slicesAfter(10)).toBe(3);
  expect(await slicesAfter(10)).toBe(3);
  // Nobody searches any more.
  expect(await slicesAfter(30)).toBeGreaterThan(5);
  engine.close();
  connection.close();
});
