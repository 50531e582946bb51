import type { SearchTally } from "#storage/search-tally.ts";

/** When upkeep that can wait goes on: at once while nobody searches, else slice by slice with searches between. */
export interface UpkeepPace {
  /** Milliseconds after which to ask again; 0 = a slice may begin now. */
  wait(): number;
  /** Told when a slice has ended. */
  rest(): void;
}

/** How often it looks for a gap between searches. */
const LOOK_MS = 10;
/** So long after the last search, nobody is taken to be searching. */
const QUIET_MS = 25;
/** From a slice to the next one while people search: in a gap between searches, and where there is none. */
const [GAP_MS, BUSY_MS] = [60, 250];

/** Makes the pace. Source: docs/decisions/0081. */
export function makeUpkeepPace(
  tally: Pick<SearchTally, "atWork" | "ended">,
  now: () => number = () => performance.now(),
): UpkeepPace {
  let seen = tally.ended();
  let seenAt = -Infinity;
  let sliceAt = -Infinity;
  return {
    wait() {
      const ended = tally.ended();
      if (ended !== seen) [seen, seenAt] = [ended, now()];
      const isIdle = tally.atWork() === 0;
      if (isIdle && now() - seenAt >= QUIET_MS) return 0;
      return now() - sliceAt >= (isIdle ? GAP_MS : BUSY_MS) ? 0 : LOOK_MS;
    },
    rest() {
      sliceAt = now();
    },
  };
}
