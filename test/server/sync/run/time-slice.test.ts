import { describe, test } from "vitest";
import { makeTimeSlice } from "#server/sync/run/time-slice.ts";
import type { JobType } from "#storage/records/queue.ts";
import { end, makeHarness, upsert, WORKSPACE } from "../harness.ts";
import { endsOf, type Kind, makeMany, slowly } from "../many.ts";

describe("workers", () => {
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

describe("what has had a turn", () => {
  test("does not begin again when its turn is over at its end", async ({ expect }) => {
    let begun = 0;
    const { kb, ids } = await makeMany(
      ["endless", "small"],
      (kb, kind, id) =>
        async function* () {
          if (kind === "small") {
            yield* slowly(kb, 1, [upsert(`${id}/a`, "text"), end()]);
            return;
          }
          begun += 1;
          yield { t: "checkpoint", cursor: 1 };
          yield* slowly(kb, 40, [upsert(`${id}/a`, "text"), end()]);
        },
    );
    await kb.makeWorker({ concurrency: 1 }).runUntilIdle();
    expect(begun).toBe(1);
    expect((await endsOf(kb, ids, 0)).map(({ state }) => state)).toEqual(["succeeded", "succeeded"]);
  });

  test("comes after what begins, also when that was asked for later", async ({ expect }) => {
    const priorities: (number | undefined)[] = [];
    const { kb, ids } = await makeMany(
      ["endless", "small"],
      (kb, kind, id) =>
        async function* (run) {
          if (kind === "small") {
            priorities.push((await kb.store.queue.find(`sync:${ids[0]}`))?.priority);
            yield* slowly(kb, 1, [upsert(`${id}/a`, "text"), end()]);
            return;
          }
          for (let i = Number(run.cursor ?? 0); priorities.length === 0 && i < 2_000; i++) {
            yield* slowly(kb, 1, [{ t: "checkpoint", cursor: i + 1 }]);
          }
          yield end();
        },
    );
    await kb.makeWorker({ concurrency: 1 }).runUntilIdle();
    expect(priorities).toEqual([25]);
    const { queue } = kb.store;
    const now = kb.clock.now + 1;
    const add = (dedupeKey: string, priority: number, runAt: number) =>
      queue.enqueue({ workspaceId: WORKSPACE, type: "purge_removed", dedupeKey, payload: {}, priority, runAt });
    await add("slice", 25, now);
    await add("new", 20, now + 1_000);
    const claimed = await queue.claim({ owner: "o", limit: 1, leaseMs: 1_000, now: now + 2_000 });
    expect(claimed.map(({ jobId }) => jobId)).toEqual(["new"]);
    // And the slice is one that others give way to.
    expect(await queue.isOtherWaiting("new", now + 2_000)).toBe(true);
  });
});

describe("a turn", () => {
  /** How many seconds a run that begins after so many keeps its worker from then on, while others wait. */
  async function secondsOf(beginning: number): Promise<number> {
    const clock = { now: 1_000_000 };
    const turn = makeTimeSlice({ now: () => clock.now, isOtherWaiting: async () => true }, clock.now);
    clock.now += beginning * 1_000;
    turn.begin();
    const from = clock.now;
    while (await turn.mayGoOn()) {
      clock.now += 1_000;
      turn.begin();
    }
    return (clock.now - from) / 1_000;
  }

  test("is ten times as long as what it begins with, which each turn does again", async ({ expect }) => {
    expect(await secondsOf(0)).toBe(5);
    expect(await secondsOf(3)).toBe(30);
    // Before, one that needs longer than its turn to come to where it stood went on by a step, and began again.
    expect(await secondsOf(31)).toBe(310);
    expect(await secondsOf(600)).toBe(600);
  });

  test("has no end where no one waits", async ({ expect }) => {
    const turn = makeTimeSlice({ now: () => Infinity, isOtherWaiting: async () => false }, 0);
    expect(await turn.mayGoOn()).toBe(true);
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
