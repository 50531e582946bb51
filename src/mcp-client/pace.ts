/** A rate limit: `burst` at once, then `perSecond`. */
export interface PaceLimits {
  perSecond: number;
  burst: number;
}

export interface Pace {
  /** Consumes `cost` and waits until it is due; an abort ends the wait. */
  take(cost: number, signal: AbortSignal): Promise<void>;
  /** How long the pace has been at its limit without a pause of about a second. */
  busyMs(): number;
}

/**
 * Makes a pace. `take` is accounted for immediately, so waiters proceed in the order in which they arrived.
 *
 * @param shared  a shared pace, which applies as well
 */
export function makePace({ perSecond, burst }: PaceLimits, shared?: Pace): Pace {
  let left = burst;
  let at = performance.now();
  let busySince: number | undefined;

  function waitFor(cost: number): number {
    const now = performance.now();
    left = Math.min(burst, left + ((now - at) / 1_000) * perSecond);
    at = now;
    if (left >= burst / 2) busySince = undefined;
    left -= cost;
    if (left >= 0) return 0;
    busySince ??= now;
    return (-left / perSecond) * 1_000;
  }

  return {
    async take(cost, signal) {
      const ms = waitFor(cost);
      if (ms > 0) await pause(ms, signal);
      await shared?.take(cost, signal);
    },
    busyMs: () => (busySince === undefined ? 0 : performance.now() - busySince),
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms).unref();
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
