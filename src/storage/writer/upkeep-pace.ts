import type { SearchTally } from "#storage/search-tally.ts";

/** When deferrable maintenance continues: at once while there are no searches, else slice by slice with searches between. */
export type UpkeepPace = ReturnType<typeof makeUpkeepPace>;

/** How often it checks for a gap between searches. */
const LOOK_MS = 10;
/** Milliseconds after the last search from which no one counts as searching. */
const QUIET_MS = 25;
/** Milliseconds from a slice to the next one during searches: in a gap between searches, and without a gap. */
const [GAP_MS, BUSY_MS] = [60, 250];

/** Makes the pace. Source: docs/decisions/0081. */
export function makeUpkeepPace(
  tally: Pick<SearchTally, "atWork" | "ended">,
  now: () => number = () => performance.now(),
) {
  let seen = tally.ended();
  let seenAt = -Infinity;
  let sliceAt = -Infinity;
  return {
    /** Milliseconds after which to ask again; 0 = a slice may begin now. */
    wait(): number {
      const ended = tally.ended();
      if (ended !== seen) [seen, seenAt] = [ended, now()];
      const isIdle = tally.atWork() === 0;
      if (isIdle && now() - seenAt >= QUIET_MS) return 0;
      return now() - sliceAt >= (isIdle ? GAP_MS : BUSY_MS) ? 0 : LOOK_MS;
    },
    /** Call when a slice has ended. */
    rest(): void {
      sliceAt = now();
    },
  };
}
