import type { Log } from "#core/log.ts";

/** Work done after the answer, so that response time reveals nothing about the result. */
export type Afterwards = ReturnType<typeof makeAfterwards>;

/** Jobs run at once: a mail server that hangs blocks a few, not all. */
const MAX_AT_ONCE = 4;
/** Waiting jobs; more than that are dropped, with a line in the log. */
const MAX_WAITING = 1_000;

/** Makes the queue for work after the answer, in the memory of this process. */
export function makeAfterwards({ log }: { log: Log }) {
  const waiting: { what: string; work: () => Promise<void> }[] = [];
  const idlers: (() => void)[] = [];
  let running = 0;

  async function runOne(job: (typeof waiting)[number]): Promise<void> {
    try {
      await job.work();
    } catch (error) {
      // Errors end here: no caller awaits the job.
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
    /** Starts `work` when its turn comes. It may be lost when the process ends; failures are logged under `what`. */
    run(what: string, work: () => Promise<void>): void {
      if (waiting.length >= MAX_WAITING) return log.warn({}, `${what} was dropped: too much is waiting`);
      waiting.push({ what, work });
      // Not in the caller's turn: its answer goes out first.
      setImmediate(start);
    },
    /** Resolves when the queue is empty. */
    idle: (): Promise<void> =>
      running === 0 && waiting.length === 0
        ? Promise.resolve()
        : new Promise<void>((resolve) => void idlers.push(resolve)),
  };
}
