import { describe, test } from "vitest";
import * as fc from "fast-check";
import {
  OFTEN_MS,
  LEAST_INTERVAL_MS,
  paidAfter,
  paidRunAt,
  restAfter,
} from "#server/sync/schedule/identity-intervals.ts";
import { runs } from "../../../runs.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

test("a run of groups rests until its requests are at most 30 percent of what the credential may send", ({
  expect,
}) => {
  const rest = (requests: number, tookMinutes: number) =>
    restAfter({ requests, perMinute: 80 }, tookMinutes * MINUTE_MS, { maxAclAgeMs: DAY_MS }) / MINUTE_MS;
  // Short and cheap: 48 requests are a hundredth of those of an hour.
  expect(rest(48, 0)).toBe(5);
  expect(rest(49, 0)).toBe(15);
  // Four times as long as it read.
  expect(rest(0, 10)).toBe(40);
  // 2,400 requests are 30 percent of 100 minutes, 10 of which it took.
  expect(rest(2_400, 10)).toBe(90);
  // Never so long that groups would grow too old: half of that age from its beginning.
  expect(rest(1_000_000, 60)).toBe(11 * 60);
});

describe("for any cost, time and limit", () => {
  const sent = fc.record({ requests: fc.nat(100_000), perMinute: fc.integer({ min: 1, max: 10_000 }) });
  const tookMs = fc.nat(6 * 60 * MINUTE_MS);
  const about = { maxAclAgeMs: DAY_MS };

  test("groups are read every 5 minutes exactly where that is at most a hundredth of an hour's requests", ({
    expect,
  }) => {
    const property = fc.property(sent, fc.nat(OFTEN_MS / 4), fc.boolean(), (cost, took, isMirror) => {
      const rest = restAfter(cost, took, { ...about, isMirror });
      const isOften = isMirror && cost.requests * 100 <= cost.perMinute * 60;
      expect(rest === OFTEN_MS).toBe(isOften);
      if (!isOften) expect(rest).toBeGreaterThanOrEqual(LEAST_INTERVAL_MS);
    });
    fc.assert(property, { numRuns: runs(500) });
  });

  test("scheduled runs take less than a third of the requests while permissions are young, and never let them grow old", ({
    expect,
  }) => {
    const property = fc.property(sent, tookMs, (cost, took) => {
      const rest = restAfter(cost, took, about);
      expect(rest).toBeGreaterThanOrEqual(Math.max(OFTEN_MS, 4 * took));
      const share = cost.requests / ((cost.perMinute * (rest + took)) / MINUTE_MS);
      const isBounded = share <= 0.3 + 1e-9;
      expect(isBounded || rest + took >= DAY_MS / 2).toBe(true);
    });
    fc.assert(property, { numRuns: runs(500) });
  });

  test("notifications, however many, cost that share and five minutes of it at once", ({ expect }) => {
    const gaps = fc.array(fc.nat(20_000), { minLength: 1, maxLength: 60 });
    const property = fc.property(sent, gaps, (cost, times) => {
      let now = 1_000_000;
      let paidUntil: number | null = null;
      let [requests, most] = [0, 0];
      const begun = now;
      for (const gap of times) {
        now = Math.max(now, paidRunAt(paidUntil, now + gap));
        paidUntil = paidAfter(paidUntil, cost, now);
        requests += cost.requests;
        most = Math.max(most, cost.requests);
      }
      const minutes = (now - begun) / MINUTE_MS;
      // What is in the way of one run is an hour at most, whatever the runs before it cost.
      const isPaid = requests - most <= 0.3 * cost.perMinute * (minutes + 5) + 1e-6;
      expect(isPaid || minutes >= 60).toBe(true);
    });
    fc.assert(property, { numRuns: runs(500) });
  });
});
