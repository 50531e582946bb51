/** A run has its worker at least for so long, and for so many times what it took to begin, with a bound. */
const TURN_MS = 5_000;
const TURN_PER_START = 10;
const LONGEST_MS = 600_000;

export type Turn = ReturnType<typeof makeTurn>;

/** What nobody waits for has its worker so long at least, and asks so often whether to go on. */
const SHORT_TURN_MS = 5_000;
const ASK_EVERY_MS = 500;

/** The turn of a run that can end anywhere and that nobody waits for: it gives way soon. */
export function makeShortTurn({ now, isOtherWaiting }: { now: () => number; isOtherWaiting(): Promise<boolean> }): {
  mayGoOn(): Promise<boolean>;
} {
  let askAt = now() + SHORT_TURN_MS;
  return {
    async mayGoOn() {
      if (now() < askAt) return true;
      askAt = now() + ASK_EVERY_MS;
      return !(await isOtherWaiting());
    },
  };
}

/**
 * The turn of a run. What happens before the first checkpoint happens again in each turn: what is stored is read, and the
 * source may list much before it comes to where it stood. So those that begin slowly have longer turns; else one that takes
 * longer to begin than its turn is long would begin again for each checkpoint.
 */
export function makeTurn(
  { now, isOtherWaiting }: { now: () => number; isOtherWaiting?(): Promise<boolean> },
  startedAt: number,
) {
  let begunAt: number | undefined;
  return {
    /** The source told the first place that it can go on from. */
    begin: (): void => void (begunAt ??= now()),
    /** Whether the run may keep its worker: until its turn is over and somebody waits. */
    async mayGoOn(): Promise<boolean> {
      const from = begunAt ?? startedAt;
      const turnMs = Math.max(TURN_MS, TURN_PER_START * (from - startedAt));
      return now() < from + Math.min(turnMs, LONGEST_MS) || isOtherWaiting === undefined || !(await isOtherWaiting());
    },
  };
}
