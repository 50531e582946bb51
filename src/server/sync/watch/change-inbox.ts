import { setTimeout as wait } from "node:timers/promises";
import type { Sleep } from "#core/clock.ts";
import type { ChangeNotification } from "#sources/change-notifications.ts";

/** Collects the notifications of one watch. */
export type ChangeInbox = ReturnType<typeof makeChangeInbox>;

/** After a notification is handled, those that arrive within this time are merged. */
const TOGETHER_MS = 250;
/**
 * The first 20 notifications are handled as they arrive, then one in each of these intervals. Without this limit, 50
 * notifications a second from a server with 2,000 resources caused 2.6 runs a second without end, and each run listed
 * all resources.
 */
const AT_ONCE = 20;
const EACH_MS = 10_000;
/** More items than this are reported as "anything", because a full listing costs no more than a run for that many. */
const MAX_ITEMS = 1_000;

/**
 * Makes the inbox of one connector. Its size is limited. However many notifications arrive, `take` runs at once for the
 * first ones and at most every ten seconds later. A source can send any number of notifications, so each connector has
 * a separate inbox.
 *
 * @param take            handles everything that arrived since its last call; must not reject
 * @param options.signal  aborted when the watch ends: pending notifications are handled then
 */
export function makeChangeInbox(
  take: (notification: ChangeNotification) => Promise<void>,
  {
    signal,
    sleep = sleepUnheld,
    now = () => performance.now(),
  }: { signal: AbortSignal; sleep?: Sleep; now?: () => number },
) {
  let changed = new Set<string>();
  let gone = new Set<string>();
  let isAnything = false;
  let taking: Promise<void> | undefined;
  let left = AT_ONCE;
  let countedAt = now();

  function next(): ChangeNotification | undefined {
    const isEmpty = !isAnything && changed.size === 0 && gone.size === 0;
    if (isEmpty) return undefined;
    const notification: ChangeNotification = isAnything
      ? { t: "anything" }
      : { t: "items", changed: [...changed], gone: [...gone] };
    clear();
    isAnything = false;
    return notification;
  }

  function clear(): void {
    changed = new Set();
    gone = new Set();
  }

  /** Counts a handled notification. @returns how long the next notification waits */
  function pauseAfter(): number {
    const at = now();
    // A clock that was set back adds no credit.
    left = Math.min(AT_ONCE, left + Math.max(0, at - countedAt) / EACH_MS) - 1;
    countedAt = at;
    return Math.max(TOGETHER_MS, (1 - left) * EACH_MS);
  }

  async function takeAll(): Promise<void> {
    for (let notification = next(); notification !== undefined; notification = next()) {
      const pauseMs = pauseAfter();
      await take(notification);
      await sleep(pauseMs, signal);
    }
  }

  return {
    /** Adds a notification. It is handled at once, or together with the next ones. */
    add(notification: ChangeNotification): void {
      if (isAnything) return;
      if (notification.t === "items") {
        for (const id of notification.changed) changed.add(id);
        for (const id of notification.gone) gone.add(id);
      }
      isAnything = notification.t === "anything" || changed.size + gone.size > MAX_ITEMS;
      if (isAnything) clear();
      taking ??= takeAll().finally(() => (taking = undefined));
    },
    /** Resolves when no notification is pending. */
    settled: async (): Promise<void> => taking,
  };
}

/** Sleeps without keeping the process alive. */
async function sleepUnheld(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
