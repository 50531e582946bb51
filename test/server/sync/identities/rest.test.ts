import { test } from "vitest";
import { restAfter } from "#server/sync/identities/job.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

test("a run of groups rests until its requests are at most 30 percent of what the credential may send", ({
  expect,
}) => {
  const rest = (requests: number, tookMinutes: number) =>
    restAfter({ requests, perMinute: 80 }, tookMinutes * MINUTE_MS, DAY_MS) / MINUTE_MS;
  // Short and cheap.
  expect(rest(10, 0)).toBe(15);
  // Four times as long as it read.
  expect(rest(0, 10)).toBe(40);
  // 2,400 requests are 30 percent of 100 minutes, 10 of which it took.
  expect(rest(2_400, 10)).toBe(90);
  // Never so long that groups would grow too old: half of that age from its beginning.
  expect(rest(1_000_000, 60)).toBe(11 * 60);
});
