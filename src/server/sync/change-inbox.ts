import { setTimeout as wait } from "node:timers/promises";
import type { Sleep } from "#core/clock.ts";
import type { ChangeNotification } from "#sources/change-notifications.ts";

/** Gathers what one watch notices. */
export type ChangeInbox = ReturnType<typeof makeChangeInbox>;

/** After one is handled, what comes meanwhile waits so long and is one. */
const TOGETHER_MS = 250;
/**
 * So many are handled as they come, and from then on one in each of these times: 50 notices a second of a server with 2,000
 * resources were 2.6 runs a second without end, each of which listed all of them.
 */
const AT_ONCE = 20;
const EACH_MS = 10_000;
/** More items than this are told as "anything": a run that lists is no dearer than one for so many. */
const MAX_ITEMS = 1_000;

/**
 * An inbox of one connector: what it holds has a bound, and however many notifications come, `take` runs at once for the first
 * ones and every ten seconds in the end. A source can send as many as it likes, so each connector has an inbox of its own.
 *
 * @param take            handles what has come since it was called last; must not reject
 * @param options.signal  aborted when the watch ends: what waits is handled then
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

  /** Counts one that is handled. @returns how long the next one waits */
  function pauseAfter(): number {
    const at = now();
    // A clock that was set back tells nothing.
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
    /** Takes a notification; it is handled at once, or together with the next ones. */
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
    /** Resolves when nothing waits any more. */
    settled: async (): Promise<void> => taking,
  };
}

/** Keeps no process alive. */
async function sleepUnheld(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
