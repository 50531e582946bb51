import { test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { end, type Harness, upsert } from "./harness.ts";
import { endsOf, type Kind, makeMany, slowly } from "./many.ts";

test("workers are shared: fifty connectors, of which one has a million items, one fails and one is limited", async ({
  expect,
}) => {
  const kinds: Kind[] = ["endless", "failing", "limited", ...Array.from({ length: 47 }, () => "small" as const)];
  let isLimited = true;
  const { kb, ids } = await makeMany(
    kinds,
    (kb, kind, id) =>
      async function* (run) {
        if (kind === "failing") throw new ApiError("source_unavailable", { message: "No one answers." });
        if (kind === "limited" && isLimited) {
          isLimited = false;
          throw new ApiError("source_rate_limited", { message: "Slow down.", retryAfterMs: 120_000 });
        }
        if (kind !== "endless") {
          yield* slowly(kb, 2, [upsert(`${id}/a`, "text"), end()]);
          return;
        }
        // A thousand steps of a thousand items, a second each.
        for (let i = typeof run.cursor === "number" ? run.cursor : 0; i < 1_000; i++) {
          const externalIds = Array.from({ length: 1_000 }, (_, n) => `${i}/${n}`);
          yield* slowly(kb, 1, [
            { t: "seen", externalIds },
            { t: "checkpoint", cursor: i + 1 },
          ]);
        }
        yield end();
      },
  );
  const from = kb.clock.now;
  await workOn(kb, 30);
  const [endless, failing, limited, ...small] = await endsOf(kb, ids, from);
  expect(failing?.state).toBe("failed");
  expect(limited?.state).toBe("succeeded");
  expect(new Set(small.map(({ state }) => state))).toEqual(new Set(["succeeded"]));
  expect(endless?.state).toBe("succeeded");
  // 94 s of their own work; the first turn of the large one, and what it reads ahead of that.
  expect(Math.max(...small.map(({ seconds }) => seconds))).toBeLessThan(94 + 30 + 128);
  expect(endless?.seconds).toBeGreaterThan(1_000);
});

/** Works until nothing is due, and on when the clock has moved to what waits. */
async function workOn(kb: Harness, minutes: number): Promise<void> {
  const worker = kb.makeWorker({ concurrency: 2 });
  for (let i = 0; i < minutes; i++) {
    await worker.runUntilIdle();
    kb.clock.now += 60_000;
  }
}
