import { afterEach, beforeEach, test, vi } from "vitest";
import { whenIdle } from "#server/when-idle.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

test("work waits until a second passes in which the thread has little to do, and is done once", async ({ expect }) => {
  let load = 0.9;
  const done: string[] = [];
  whenIdle(
    () => void done.push("work"),
    10_000,
    () => load,
  );
  await vi.advanceTimersByTimeAsync(60_000);
  expect(done).toEqual([]);
  load = 0.1;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(done).toEqual(["work"]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(done).toEqual(["work"]);
});

test("an idle thread does it soon after its time, never before, and not once it is told to end", async ({ expect }) => {
  const done: string[] = [];
  const idle = () => 0;
  whenIdle(() => void done.push("kept"), 10_000, idle);
  const end = whenIdle(() => void done.push("ended"), 10_000, idle);
  await vi.advanceTimersByTimeAsync(10_500);
  expect(done).toEqual([]);
  end();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(done).toEqual(["kept"]);
});
