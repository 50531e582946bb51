import { test } from "vitest";
import { believedUntil, isAhead } from "#storage/access/clocks.ts";

const NOW = Date.UTC(2026, 10, 21);
const AHEAD_MS = 5 * 60_000;
const DAY_MS = 86_400_000;

test("an instant is ahead of the clock from five minutes on, not at five minutes", ({ expect }) => {
  expect([NOW, NOW + AHEAD_MS, NOW + AHEAD_MS + 1].map((at) => isAhead(at, NOW))).toEqual([false, false, true]);
});

test("what was looked at is believed until it is as old as it may be, and never without a look or from the future", ({
  expect,
}) => {
  const until = (at: number | null) => believedUntil(at, { now: NOW, maxAclAgeMs: DAY_MS });
  expect(until(NOW)).toBe(NOW + DAY_MS);
  expect(until(NOW - DAY_MS + 1)).toBe(NOW + 1);
  expect(until(NOW + AHEAD_MS)).toBe(NOW + AHEAD_MS + DAY_MS);
  for (const at of [null, NOW - DAY_MS, 0, NOW + AHEAD_MS + 1]) expect(until(at)).toBeUndefined();
  // Before the epoch's first day is over, null is no instant of 1970.
  expect(believedUntil(null, { now: 1, maxAclAgeMs: DAY_MS })).toBeUndefined();
});
