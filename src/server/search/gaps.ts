import type { Sleep } from "#core/clock.ts";

/** Moments without a search, in which background work begins. */
export interface Gaps {
  /** Waits for a gap, one caller after the other; when searches leave none, callers go on at a slow pace. */
  wait(): Promise<void>;
  /** Told when the last search at work has ended. */
  begin(): void;
}

/** While searches leave no gap, one piece of work begins in this time. Source: docs/decisions/0043. */
const PACE_MS = 20;

/** Makes the gaps of a gate. `isIdle` = no search works or waits. */
export function makeGaps(isIdle: () => boolean, sleep: Sleep): Gaps {
  const waiting: (() => void)[] = [];
  const { signal } = new AbortController();
  let isPaced = false;
  let isDraining = false;

  const pace = async () => {
    if (isPaced) return;
    isPaced = true;
    while (waiting.length > 0) {
      await sleep(PACE_MS, signal);
      waiting.shift()?.();
    }
    isPaced = false;
  };

  // One at a time: a search that has come meanwhile goes first.
  const drain = () => {
    isDraining = waiting.length > 0 && isIdle();
    if (!isDraining) return;
    waiting.shift()?.();
    setImmediate(drain);
  };

  return {
    async wait() {
      if (waiting.length === 0 && isIdle()) return;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        void pace();
      });
    },
    begin() {
      if (isDraining || waiting.length === 0) return;
      isDraining = true;
      setImmediate(drain);
    },
  };
}
