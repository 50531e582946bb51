import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeCollector, MANY_NAMES } from "#sources/filesystem/watch-pace.ts";

const PACE = { quietMs: 2_000, longestMs: 30_000 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function makeHeard() {
  const calls: (string[] | undefined)[] = [];
  let release = () => {};
  const world = { isSlow: false };
  const collector = makeCollector(PACE, async (names) => {
    calls.push(names);
    if (world.isSlow) await new Promise<void>((resolve) => (release = resolve));
  });
  return { calls, collector, world, release: () => release() };
}

test("names are told once it is quiet, each once", async () => {
  const { calls, collector } = makeHeard();
  for (const name of ["a", "b", "a"]) collector.add(name);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(calls).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(calls).toEqual([["a", "b"]]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls).toHaveLength(1);
});

test("a place that never rests is told after the longest wait", async () => {
  const { calls, collector } = makeHeard();
  for (let second = 0; second < 65; second++) {
    collector.add(`f${second}`);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(calls.map((names) => names?.length)).toEqual([30, 30]);
});

test("too many names, or one that is not known, are everything", async () => {
  const { calls, collector } = makeHeard();
  for (let n = 0; n <= MANY_NAMES; n++) collector.add(`f${n}`);
  await vi.advanceTimersByTimeAsync(2_000);
  collector.add("a");
  collector.add(null);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(calls).toEqual([undefined, undefined]);
});

test("what comes while the last was being told waits for its end, and nothing is told after a stop", async () => {
  const { calls, collector, world, release } = makeHeard();
  world.isSlow = true;
  collector.add("a");
  await vi.advanceTimersByTimeAsync(2_000);
  collector.add("b");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls).toEqual([["a"]]);
  release();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(calls).toEqual([["a"], ["b"]]);
  collector.add("c");
  collector.stop();
  release();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls).toHaveLength(2);
});
