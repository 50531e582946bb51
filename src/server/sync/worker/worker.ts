import type { RandomBytes, Sleep } from "#core/clock.ts";
import type { Log } from "#core/log.ts";
import { type ClaimedJob, type ClaimRequest, type JobType, LEASE_MS } from "#storage/records/queue.ts";
import type { Store } from "#storage/records/store.ts";
import { runIdentitiesJob } from "./identities-job.ts";
import type { JobEnd, SyncDeps } from "#server/sync/deps.ts";
import { runJob } from "./jobs.ts";
import type { StopReason } from "#server/sync/run/run.ts";
import { makeSchedule } from "#server/sync/schedule/schedule.ts";

export interface WorkerOptions extends SyncDeps {
  store: Store;
  now: () => number;
  randomBytes: RandomBytes;
  sleep: Sleep;
  log: Log;
  /** The number of jobs that run at once. Default: 4. */
  concurrency?: number;
}

export type SyncWorker = ReturnType<typeof makeSyncWorker>;

const IDLE_MS = 1_000;
const HEARTBEAT_MS = LEASE_MS / 3;

/**
 * One job of these kinds always gets a slot, however many others run. While such a job waits, someone may read what
 * they may no longer read.
 */
const OF_IDENTITIES: readonly JobType[] = ["identities", "told_groups"];

interface Running {
  job: ClaimedJob;
  abort: AbortController;
  done: Promise<void>;
  syncId?: string;
}

/**
 * Makes the worker, which claims jobs of the queue and runs several at once. A job runs at least once: a dead worker's
 * job runs again.
 */
export function makeSyncWorker(options: WorkerOptions) {
  const { store, now, sleep, log, concurrency = 4 } = options;
  const schedule = makeSchedule(options);
  const workerId = Buffer.from(options.randomBytes(9)).toString("base64url");
  const running = new Map<string, Running>();
  const over = new AbortController();
  let nap = new AbortController();
  let claims = 0;
  let loop: Promise<void> | undefined;

  const wake = () => nap.abort();

  async function claim(): Promise<number> {
    if (over.signal.aborted) return 0;
    const free = concurrency - running.size;
    let claimed = free > 0 ? await take({ limit: free }) : 0;
    for (const type of OF_IDENTITIES) {
      const isOneRunning = [...running.values()].some(({ job }) => job.type === type);
      if (running.size >= concurrency && !isOneRunning) claimed += await take({ limit: 1, types: [type] });
    }
    return claimed;
  }

  async function take(which: Pick<ClaimRequest, "limit" | "types">): Promise<number> {
    const owner = `${workerId}:${++claims}`;
    const jobs = await store.queue.claim({ owner, ...which, leaseMs: LEASE_MS, now: now() });
    for (const job of jobs) begin(job, owner);
    return jobs.length;
  }

  function begin(job: ClaimedJob, owner: string): void {
    const entry: Running = { job, abort: new AbortController(), done: Promise.resolve() };
    running.set(job.jobId, entry);
    entry.done = perform(entry, owner).finally(() => {
      running.delete(job.jobId);
      wake();
    });
  }

  async function perform(entry: Running, owner: string): Promise<void> {
    const { job, abort } = entry;
    const isOver = new AbortController();
    const beating = heartbeat(entry, owner, isOver.signal);
    try {
      const work = OF_IDENTITIES.includes(job.type) ? runIdentitiesJob : runJob;
      const end = await work(options, job, owner, {
        signal: abort.signal,
        onSync: (syncId) => (entry.syncId = syncId),
      });
      await settle(job, owner, end);
    } catch (error) {
      log.error({ jobId: job.jobId, type: job.type, error }, "A job failed");
      await store.queue.giveBack(job.jobId, owner, now() + 60_000).catch((failure: unknown) => {
        // The job's lease expires by itself, and then the job runs again.
        log.warn({ jobId: job.jobId, error: failure }, "A job could not be returned to the queue");
      });
    } finally {
      isOver.abort();
      await beating;
    }
  }

  async function settle(job: ClaimedJob, owner: string, end: JobEnd): Promise<void> {
    if (end.type === "again") await store.queue.giveBack(job.jobId, owner, end.at);
    if (end.type === "done") await store.queue.finish(job.jobId, owner);
  }

  async function heartbeat(entry: Running, owner: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(HEARTBEAT_MS, signal);
      if (signal.aborted) return;
      try {
        const isOurs = await store.queue.heartbeat(entry.job.jobId, owner, now() + LEASE_MS);
        if (!isOurs || (await isCancelled(entry))) entry.abort.abort("cancel" satisfies StopReason);
      } catch (error) {
        // The database may be back at the next heartbeat. The lease lasts for three heartbeats.
        log.warn({ jobId: entry.job.jobId, error }, "A heartbeat failed");
      }
    }
  }

  async function isCancelled({ job, syncId }: Running): Promise<boolean> {
    const sync = syncId === undefined ? undefined : await store.in(job.workspaceId).syncs.find(syncId);
    return sync !== undefined && sync.cancelRequestedAt !== null;
  }

  async function work(): Promise<void> {
    while (!over.signal.aborted) {
      nap = new AbortController();
      try {
        await schedule.tick();
        await claim();
      } catch (error) {
        log.error({ error }, "The queue could not be read");
      }
      await sleep(IDLE_MS, AbortSignal.any([nap.signal, over.signal]));
    }
  }

  return {
    /** Starts claiming and scheduling. `stop` ends it. */
    start(): void {
      loop ??= work();
    },
    /** Checks the queue at once. Call it when a job was added. */
    wake,
    /** Ends a run of this process soon. A run of another process ends with its next batch or heartbeat. */
    cancel(syncId: string): void {
      for (const entry of running.values())
        if (entry.syncId === syncId) entry.abort.abort("cancel" satisfies StopReason);
    },
    /** Finishes the batches in progress, releases unfinished jobs, and returns when nothing runs any more. */
    async stop(): Promise<void> {
      over.abort();
      for (const entry of running.values()) entry.abort.abort("give_back" satisfies StopReason);
      await loop;
      await Promise.all([...running.values()].map((entry) => entry.done));
    },
    /** Works until no job is due, for tests and for commands that end. Returns the number of jobs done. */
    async runUntilIdle(): Promise<number> {
      let count = 0;
      for (;;) {
        await schedule.tick();
        const claimed = await claim();
        count += claimed;
        if (claimed === 0 && running.size === 0) return count;
        // Claimed jobs may be done already, and then there is nothing to wait for.
        if (running.size > 0) await Promise.race([...running.values()].map((entry) => entry.done));
      }
    },
  };
}
