import { setTimeout as wait } from "node:timers/promises";
import type { ChangeNotification } from "#sources/change-notifications.ts";

/** Gathers what one watch notices. */
export interface ChangeInbox {
  /** Takes a notification; it is handled at once, or together with the next ones. */
  add(notification: ChangeNotification): void;
  /** Resolves when nothing waits any more. */
  settled(): Promise<void>;
}

/** After one is handled, what comes meanwhile waits so long and is one. */
const TOGETHER_MS = 250;
/** More items than this are told as "anything": a run that lists is no dearer than one for so many. */
const MAX_ITEMS = 1_000;

/**
 * An inbox of one connector: what it holds has a bound, and however many notifications come, `take` runs at most four times a
 * second. A source can send as many as it likes, so each connector has an inbox of its own.
 *
 * @param take    handles what has come since it was called last; must not reject
 * @param signal  aborted when the watch ends: what waits is handled then
 */
export function makeChangeInbox(
  take: (notification: ChangeNotification) => Promise<void>,
  signal: AbortSignal,
): ChangeInbox {
  let changed = new Set<string>();
  let gone = new Set<string>();
  let isAnything = false;
  let taking: Promise<void> | undefined;

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

  async function takeAll(): Promise<void> {
    for (let notification = next(); notification !== undefined; notification = next()) {
      await take(notification);
      await wait(TOGETHER_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  return {
    add(notification) {
      if (isAnything) return;
      if (notification.t === "items") {
        for (const id of notification.changed) changed.add(id);
        for (const id of notification.gone) gone.add(id);
      }
      isAnything = notification.t === "anything" || changed.size + gone.size > MAX_ITEMS;
      if (isAnything) clear();
      taking ??= takeAll().finally(() => (taking = undefined));
    },
    settled: async () => taking,
  };
}
