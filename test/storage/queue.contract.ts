import { describe, test } from "vitest";
import type { ClaimedJob, NewJob, QueueStore } from "#storage/records/queue.ts";

/** What every queue must do. `open` gives an empty one. */
export function describeQueue(name: string, open: () => Promise<QueueStore>): void {
  const job = (key: string, more: Partial<NewJob> = {}): NewJob => ({
    workspaceId: "wsp_1",
    type: "sync",
    dedupeKey: key,
    payload: { connectorId: key },
    priority: 20,
    runAt: 100,
    ...more,
  });
  const claim = (queue: QueueStore, owner: string, now: number, limit = 10): Promise<ClaimedJob[]> =>
    queue.claim({ owner, limit, leaseMs: 30_000, now });
  const keys = (jobs: ClaimedJob[]) => jobs.map((each) => each.dedupeKey);

  describe(`the queue on ${name}`, () => {
    test("gives due jobs, the more urgent and then the older first, at most as many as asked", async ({ expect }) => {
      const queue = await open();
      await queue.enqueue(job("late", { runAt: 500 }));
      await queue.enqueue(job("old", { runAt: 90 }));
      await queue.enqueue(job("urgent", { priority: 10 }));
      await queue.enqueue(job("young"));
      expect(keys(await claim(queue, "a", 100, 2))).toEqual(["urgent", "old"]);
      expect(await claim(queue, "a", 100)).toMatchObject([
        { dedupeKey: "young", payload: { connectorId: "young" }, attempt: 1, isTakenOver: false },
      ]);
      expect(await claim(queue, "a", 100)).toEqual([]);
      expect(keys(await claim(queue, "a", 500))).toEqual(["late"]);
    });

    test("keeps one job per key; a second wish only makes it more urgent", async ({ expect }) => {
      const queue = await open();
      expect(await queue.enqueue(job("a", { runAt: 300 }))).toBe(true);
      expect(await queue.enqueue(job("a", { runAt: 200, priority: 10 }))).toBe(false);
      expect(await queue.enqueue(job("a", { runAt: 900, priority: 30 }))).toBe(false);
      expect(await claim(queue, "x", 200)).toMatchObject([{ dedupeKey: "a", priority: 10, runAt: 200 }]);
      // Claimed: its holder decides when it is due again.
      expect(await queue.enqueue(job("a", { runAt: 0 }))).toBe(false);
      expect(await claim(queue, "y", 300)).toEqual([]);
    });

    test("gives a job to one of many who ask at once", async ({ expect }) => {
      const queue = await open();
      for (let i = 0; i < 20; i++) await queue.enqueue(job(`j${i}`));
      const claimed = await Promise.all(Array.from({ length: 8 }, (_, i) => claim(queue, `w${i}`, 100, 5)));
      const all = claimed.flatMap(keys);
      expect(all).toHaveLength(20);
      expect(new Set(all).size).toBe(20);
    });

    test("gives a job again when its lease is over, and says that it was taken over", async ({ expect }) => {
      const queue = await open();
      await queue.enqueue(job("a"));
      await claim(queue, "dead", 100);
      expect(await claim(queue, "b", 30_099)).toEqual([]);
      expect(await claim(queue, "b", 30_100)).toMatchObject([{ attempt: 2, isTakenOver: true }]);
      expect(await queue.heartbeat("a", "dead", 99_999)).toBe(false);
      expect(await queue.finish("a", "dead")).toBe(false);
      expect(await queue.giveBack("a", "dead", 0)).toBe(false);
      expect(await queue.heartbeat("a", "b", 70_000)).toBe(true);
      expect(await claim(queue, "c", 69_999)).toEqual([]);
    });

    test("gives back at a time of its own and forgets what is finished", async ({ expect }) => {
      const queue = await open();
      await queue.enqueue(job("a"));
      await claim(queue, "w", 100);
      expect(await queue.giveBack("a", "w", 5_000)).toBe(true);
      expect(await claim(queue, "w", 4_999)).toEqual([]);
      expect(await claim(queue, "v", 5_000)).toMatchObject([{ isTakenOver: false }]);
      expect(await queue.finish("a", "v")).toBe(true);
      expect(await claim(queue, "v", 99_999)).toEqual([]);
      expect(await queue.enqueue(job("a"))).toBe(true);
      await queue.drop("a");
      expect(await claim(queue, "v", 99_999)).toEqual([]);
    });

    test("lets no workspace crowd out another", async ({ expect }) => {
      const queue = await open();
      for (let i = 0; i < 5; i++) await queue.enqueue(job(`big${i}`, { runAt: 1 + i }));
      await queue.enqueue(job("small", { workspaceId: "wsp_2", runAt: 90 }));
      expect(keys(await claim(queue, "a", 100, 1))).toEqual(["big0"]);
      expect(keys(await claim(queue, "a", 100, 1))).toEqual(["small"]);
      expect(keys(await claim(queue, "a", 100, 1))).toEqual(["big1"]);
    });
  });
}
