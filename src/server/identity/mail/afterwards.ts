import type { Log } from "#core/log.ts";

/** Work that is done after the answer, so that the time of the answer says nothing of what was found. */
export type Afterwards = ReturnType<typeof makeAfterwards>;

/** Jobs at work at once: a mail server that hangs holds up a few, not all. */
const MAX_AT_ONCE = 4;
/** Jobs waiting; what comes on top is dropped, with a line in the log. */
const MAX_WAITING = 1_000;

/** Work after the answer, in the memory of this process. */
export function makeAfterwards({ log }: { log: Log }) {
  const waiting: { what: string; work: () => Promise<void> }[] = [];
  const idlers: (() => void)[] = [];
  let running = 0;

  async function runOne(job: (typeof waiting)[number]): Promise<void> {
    try {
      await job.work();
    } catch (error) {
      // The last place that sees it: nobody waits for the outcome.
      log.warn({ error: error instanceof Error ? error.message : String(error) }, `${job.what} failed`);
    } finally {
      running--;
      start();
    }
  }

  function start(): void {
    while (running < MAX_AT_ONCE) {
      const job = waiting.shift();
      if (!job) break;
      running++;
      void runOne(job);
    }
    if (running === 0 && waiting.length === 0) for (const resolve of idlers.splice(0)) resolve();
  }

  return {
    /** Starts `work` when its turn comes. It may be lost when the process ends; a failure is logged under `what`. */
    run(what: string, work: () => Promise<void>): void {
      if (waiting.length >= MAX_WAITING) return log.warn({}, `${what} was dropped: too much is waiting`);
      waiting.push({ what, work });
      // Not within the caller's turn: its answer goes first.
      setImmediate(start);
    },
    /** Resolves when nothing is left to do. */
    idle: (): Promise<void> =>
      running === 0 && waiting.length === 0
        ? Promise.resolve()
        : new Promise<void>((resolve) => void idlers.push(resolve)),
  };
}
