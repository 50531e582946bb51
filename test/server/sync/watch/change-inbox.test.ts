import { expect, test } from "vitest";
import { makeChangeInbox } from "#server/sync/watch/change-inbox.ts";
import type { ChangeNotification as Notification } from "#sources/change-notifications.ts";

/** An inbox by a clock of its own, to which something comes `everyMs`; gives when it was handled, in seconds. */
async function takenOf(everyMs: number, untilMs: number): Promise<number[]> {
  let now = 0;
  let came = 0;
  const taken: number[] = [];
  const arrive = () => {
    for (; came <= now && came < untilMs; came += everyMs) inbox.add({ t: "anything" });
  };
  const inbox = makeChangeInbox(async () => void taken.push(now / 1_000), {
    signal: new AbortController().signal,
    now: () => now,
    async sleep(ms) {
      now += ms;
      arrive();
    },
  });
  for (;;) {
    if (came >= untilMs) return taken;
    now = Math.max(now, came);
    arrive();
    await inbox.settled();
  }
}

test("what never stops coming is handled as it comes, and every ten seconds in the end", async () => {
  const taken = await takenOf(20, 300_000);
  expect(taken.slice(0, 4)).toEqual([0, 0.25, 0.5, 0.75]);
  expect(taken.filter((at) => at < 60).length).toBeLessThan(28);
  expect(taken.filter((at) => at >= 120 && at < 240)).toHaveLength(12);
});

test("what comes every ten seconds is handled at once each time, for an hour", async () => {
  const taken = await takenOf(10_000, 3_600_000);
  expect(taken).toEqual(Array.from({ length: 360 }, (_, n) => n * 10));
});

test("of more than a thousand items it says that anything may have changed; of a thousand which ones", async () => {
  const handled: Notification[] = [];
  const inbox = makeChangeInbox(async (notification) => void handled.push(notification), {
    signal: new AbortController().signal,
    now: () => 0,
    sleep: async () => undefined,
  });
  const items = (count: number) => Array.from({ length: count }, (_, n) => `item ${n}`);
  inbox.add({ t: "items", changed: items(999), gone: ["gone"] });
  await inbox.settled();
  inbox.add({ t: "items", changed: items(1_000), gone: ["gone"] });
  await inbox.settled();
  expect(handled).toEqual([{ t: "items", changed: items(999), gone: ["gone"] }, { t: "anything" }]);
});
