import { performance } from "node:perf_hooks";

/**
 * The period over which a thread's load is measured, in milliseconds, and the maximum share of it that an idle thread
 * works.
 */
const LOOK_MS = 1_000;
const IDLE_SHARE = 0.2;

/**
 * Runs the work after this thread was nearly idle for a second, and at the earliest after `afterMs`. Doesn't keep the
 * process alive.
 *
 * @param readLoad the share of the time since the last call in which the thread worked, 0 to 1
 * @returns a function that cancels the wait
 */
export function whenIdle(work: () => void, afterMs: number, readLoad = makeLoadReader()): () => void {
  const begin = () => {
    readLoad();
    timer = setTimeout(check, LOOK_MS).unref();
  };
  const check = () => {
    if (readLoad() < IDLE_SHARE) work();
    else timer = setTimeout(check, LOOK_MS).unref();
  };
  let timer = setTimeout(begin, afterMs).unref();
  return () => clearTimeout(timer);
}

function makeLoadReader(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
