import { performance } from "node:perf_hooks";

/** So long a thread is looked at, and so much of that it may work and still be idle. */
const LOOK_MS = 1_000;
const IDLE_SHARE = 0.2;

/**
 * Does the work once this thread had little to do for a second, after `afterMs` at the earliest. Keeps no process alive.
 *
 * @param readLoad the share of the time since the last call in which the thread worked, 0 to 1
 * @returns what ends the waiting
 */
export function whenIdle(work: () => void, afterMs: number, readLoad = makeLoadReader()): () => void {
  const begin = () => {
    readLoad();
    timer = setTimeout(look, LOOK_MS).unref();
  };
  const look = () => {
    if (readLoad() < IDLE_SHARE) work();
    else timer = setTimeout(look, LOOK_MS).unref();
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
