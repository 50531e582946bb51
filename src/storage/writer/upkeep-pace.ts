import type { SearchTally } from "#storage/search-tally.ts";

/**
 * Decides when deferrable maintenance continues: at once while there are no searches, otherwise slice by slice with
 * searches in between.
 */
export type UpkeepPace = ReturnType<typeof makeUpkeepPace>;

/** How often it checks for a gap between searches. */
const LOOK_MS = 10;
/** Milliseconds without a search after which no one is considered to be searching. */
const QUIET_MS = 25;
/** Milliseconds from one slice to the next during searches: in a gap between searches, and without a gap. */
const [GAP_MS, BUSY_MS] = [60, 250];

/** Makes the pace of deferrable maintenance. Source: docs/decisions/0081. */
export function makeUpkeepPace(
  tally: Pick<SearchTally, "atWork" | "ended">,
  now: () => number = () => performance.now(),
) {
  let seen = tally.ended();
  let seenAt = -Infinity;
  let sliceAt = -Infinity;
  return {
    /** Returns after how many milliseconds to ask again; 0 = a slice may begin now. */
    wait(): number {
      const ended = tally.ended();
      if (ended !== seen) [seen, seenAt] = [ended, now()];
      const isIdle = tally.atWork() === 0;
      if (isIdle && now() - seenAt >= QUIET_MS) return 0;
      return now() - sliceAt >= (isIdle ? GAP_MS : BUSY_MS) ? 0 : LOOK_MS;
    },
    /** Records that a slice has ended. */
    rest(): void {
      sliceAt = now();
    },
  };
}
