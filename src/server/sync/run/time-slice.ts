/** The minimum time that a run keeps its worker. It also gets a limited multiple of the time that it took to begin. */
const TURN_MS = 5_000;
const TURN_PER_START = 10;
const LONGEST_MS = 600_000;

export type TimeSlice = ReturnType<typeof makeTimeSlice>;

/** The minimum time for a run that no one waits for. It is also how often the run checks whether to continue. */
const SHORT_TURN_MS = 5_000;
const ASK_EVERY_MS = 500;

/** Makes the turn of a run that can end anywhere and that no one waits for. Such a run soon gives way to other jobs. */
export function makeShortSlice({ now, isOtherWaiting }: { now: () => number; isOtherWaiting(): Promise<boolean> }): {
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
 * Makes the turn of a run. The work before the first checkpoint is repeated in each turn, because stored items are read
 * and the source may list much before it is back at its position. A run that begins slowly therefore gets a longer
 * turn. Otherwise, if its start takes longer than its turn, it would begin again for each checkpoint.
 */
export function makeTimeSlice(
  { now, isOtherWaiting }: { now: () => number; isOtherWaiting?(): Promise<boolean> },
  startedAt: number,
) {
  let begunAt: number | undefined;
  return {
    /** Called when the source reports the first position that the run can resume from. */
    begin: (): void => void (begunAt ??= now()),
    /** Whether the run may keep its worker. False once its turn is over and another job waits. */
    async mayGoOn(): Promise<boolean> {
      const from = begunAt ?? startedAt;
      const turnMs = Math.max(TURN_MS, TURN_PER_START * (from - startedAt));
      return now() < from + Math.min(turnMs, LONGEST_MS) || isOtherWaiting === undefined || !(await isOtherWaiting());
    },
  };
}
