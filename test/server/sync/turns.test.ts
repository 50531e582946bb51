import { createHash } from "node:crypto";
import { describe, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import type { Source, SyncEvent } from "#sources/contract.ts";
import type { JobType } from "#storage/records/queue.ts";
import { requestSync } from "#server/sync/request.ts";
import { end, type Harness, makeConnector, makeHarness, type Script, upsert, WORKSPACE } from "./harness.ts";

type Kind = "small" | "endless" | "failing" | "limited";

/** Connectors of these kinds in one workspace, whose sources take their time by the clock of the test. */
async function makeMany(kinds: readonly Kind[], script: (kb: Harness, kind: Kind, id: string) => Script) {
  const sources = new Map<string, Source>();
  const kb: Harness = await makeHarness(() => [], { findSource: (providerId) => sources.get(providerId) });
  const letter = (i: number) => "abcdefgh"[i % 8] ?? "";
  const ids = kinds.map((_, i) => `con_33333333333333${letter(Math.floor(i / 8))}${letter(i)}`);
  for (const [i, kind] of kinds.entries()) {
    const connectorId = ids[i] ?? "";
    const providerId = `fake-${i}`;
    const said = script(kb, kind, connectorId);
    sources.set(providerId, {
      ...kb.source,
      async *sync(ctx, run) {
        yield* said({ ...run, stored: ctx.stored, state: ctx.state }, ctx.signal);
      },
    });
    const connector = makeConnector(kb.clock.now, { connectorId, providerId, name: `${kind} ${i}` });
    await kb.store.in(WORKSPACE).connectors.create(connector);
    const wish = { trigger: "schedule", mode: "full", now: kb.clock.now + i, randomBytes: bytesOf(i) } as const;
    await kb.store.transaction((tx) => requestSync(tx, WORKSPACE, connector, wish));
  }
  kb.clock.now += kinds.length;
  return { kb, ids };
}

const bytesOf = (i: number) => (count: number) => createHash("sha256").update(`${i}`).digest().subarray(0, count);

/** When the last run of each connector ended, in seconds, and how. */
async function endsOf(kb: Harness, ids: readonly string[], from: number) {
  const { syncs } = kb.store.in(WORKSPACE);
  const found = await Promise.all(ids.map(async (id) => (await syncs.list(id, 1))[0]));
  return found.map((sync) => ({ state: sync?.state, seconds: Math.round(((sync?.finishedAt ?? 0) - from) / 1_000) }));
}

/** Seconds of the clock that one step of a source takes. */
function* slowly(kb: Harness, seconds: number, events: readonly SyncEvent[]): Generator<SyncEvent> {
  kb.clock.now += seconds * 1_000;
  yield* events;
}

/** Works until nothing is due, and on when the clock has moved to what waits. */
async function workOn(kb: Harness, minutes: number): Promise<void> {
  const worker = kb.makeWorker({ concurrency: 2 });
  for (let i = 0; i < minutes; i++) {
    await worker.runUntilIdle();
    kb.clock.now += 60_000;
  }
}

describe("workers", () => {
  test("are shared: fifty connectors, of which one has a million items, one fails and one is limited", async ({
    expect,
  }) => {
    const kinds: Kind[] = ["endless", "failing", "limited", ...Array.from({ length: 47 }, () => "small" as const)];
    let isLimited = true;
    const { kb, ids } = await makeMany(
      kinds,
      (kb, kind, id) =>
        async function* (run) {
          if (kind === "failing") throw new ApiError("source_unavailable", { message: "Nobody answers." });
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

  test("are not kept by endless runs: a small one behind as many as there are has its turn", async ({ expect }) => {
    const small = { isOver: false };
    const kinds: Kind[] = ["endless", "endless", "endless", "endless", "small"];
    const { kb, ids } = await makeMany(
      kinds,
      (kb, kind, id) =>
        async function* (run) {
          if (kind === "small") {
            yield* slowly(kb, 2, [upsert(`${id}/a`, "text"), end()]);
            small.isOver = true;
            return;
          }
          for (let i = Number(run.cursor ?? 0); !small.isOver && i < 2_000; i++) {
            yield* slowly(kb, 1, [{ t: "checkpoint", cursor: i + 1 }]);
          }
          yield end();
        },
    );
    const from = kb.clock.now;
    await kb.makeWorker().runUntilIdle();
    const ends = await endsOf(kb, ids, from);
    expect(ends.map(({ state }) => state)).toEqual(ids.map(() => "succeeded"));
    // Each of the four has its turn of 30 s, and what it reads ahead of that: 128 events of a second each.
    expect(ends[4]?.seconds).toBeLessThan(4 * (30 + 128));
  });
});

describe("claims", () => {
  // Instants as they are: a number of this size is no integer to SQLite's driver.
  const T0 = 1_800_000_000_000;
  const WORKSPACES = ["a", "b"].map((letter) => `wsp_222222222222222${letter}`);

  async function makeQueue() {
    const kb = await makeHarness(() => []);
    for (const workspaceId of WORKSPACES) {
      const workspace = { workspaceId, name: workspaceId, timeZone: "UTC", createdAt: 1 };
      await kb.database.write.insertInto("workspaces").values(workspace).execute();
    }
    const { queue } = kb.store;
    const add = (at: number, key: string, runAt: number, priority = 20, type: JobType = "purge_removed") =>
      queue.enqueue({
        workspaceId: WORKSPACES[at] ?? "",
        type,
        dedupeKey: key,
        payload: {},
        priority,
        runAt: T0 + runAt,
      });
    const take = async (now: number, limit = 1) =>
      (await queue.claim({ owner: `o${now}`, limit, leaseMs: 1_000, now: T0 + now })).map(({ jobId }) => jobId);
    return { queue, add, take };
  }

  test("go to the workspace that was served least recently, one by one", async ({ expect }) => {
    const { queue, add, take } = await makeQueue();
    for (let i = 0; i < 4; i++) await add(0, `a${i}`, i);
    await add(1, "b", 50);
    const served = [];
    for (let now = 100; now < 105; now++) {
      const [jobId = ""] = await take(now);
      served.push(jobId);
      await queue.finish(jobId, `o${now}`);
    }
    expect(served).toEqual(["a0", "b", "a1", "a2", "a3"]);
    await add(0, "a9", 0);
    await add(0, "a8", 1);
    await add(1, "b9", 2);
    expect(await take(200, 2)).toEqual(["b9", "a9"]);
  });

  test("go to what a person waits for, and to nothing for ever: what waits rises", async ({ expect }) => {
    const { queue, add, take } = await makeQueue();
    await add(0, "upkeep", 0, 30);
    await add(0, "manual", 90_000, 10);
    expect(await queue.isOtherWaiting("manual", T0 + 89_000)).toBe(false);
    expect(await take(90_000)).toEqual(["manual"]);
    await queue.finish("manual", "o90000");
    await add(1, "late", 700_000, 10);
    expect(await queue.isOtherWaiting("manual", T0 + 600_000)).toBe(true);
    expect(await queue.countWaiting({ priority: 20, runAt: T0 + 600_000 }, T0 + 600_000)).toBe(1);
    expect(await take(700_000)).toEqual(["upkeep"]);
  });
});
