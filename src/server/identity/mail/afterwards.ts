import type { Log } from "#core/log.ts";

/** A queue for work after the response, so that the response time reveals nothing about the result. */
export type Afterwards = ReturnType<typeof makeAfterwards>;

/** Maximum jobs that run at once. A mail server that hangs then blocks only a few. */
const MAX_AT_ONCE = 4;
/** Maximum waiting jobs. Further jobs are dropped, and the log reports it. */
const MAX_WAITING = 1_000;

/** Makes the queue for work after the response, in the memory of this process. */
export function makeAfterwards({ log }: { log: Log }) {
  const waiting: { what: string; work: () => Promise<void> }[] = [];
  const idlers: (() => void)[] = [];
  let running = 0;

  async function runOne(job: (typeof waiting)[number]): Promise<void> {
    try {
      await job.work();
    } catch (error) {
      // The error is only logged, since no caller awaits the job.
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
    /** Queues `work`. It may be lost when the process ends. Failures are logged under `what`. */
    run(what: string, work: () => Promise<void>): void {
      if (waiting.length >= MAX_WAITING) return log.warn({}, `${what} was dropped: too much is waiting`);
      waiting.push({ what, work });
      // The job starts in a later turn, so that the caller's response is sent first.
      setImmediate(start);
    },
    /** Resolves once the queue is empty. */
    idle: (): Promise<void> =>
      running === 0 && waiting.length === 0
        ? Promise.resolve()
        : new Promise<void>((resolve) => void idlers.push(resolve)),
  };
}
