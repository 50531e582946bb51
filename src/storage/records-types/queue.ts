/** Kinds of background work. */
export type JobType = "sync" | "purge_connector" | "purge_removed" | "apply_secrets" | "sweep_accesses";

export interface NewJob {
  workspaceId: string;
  type: JobType;
  /** At most one job per key exists, waiting or claimed. */
  dedupeKey: string;
  payload: Record<string, string>;
  /** Lower goes first; 10 = a person waits, 20 = schedule, 30 = upkeep. */
  priority: number;
  /** Epoch milliseconds before which it is not claimed. */
  runAt: number;
}

export interface ClaimedJob extends NewJob {
  jobId: string;
  /** Counts claims: 1 = the first. */
  attempt: number;
  /** True when a former claim ended without a word: its worker died or stood still. */
  isTakenOver: boolean;
}

export interface ClaimRequest {
  /** Names this claim: unique per worker and call, so that a late worker can't act on a job that was given on. */
  owner: string;
  /** Jobs, 1–100. */
  limit: number;
  /** Milliseconds until an unfinished job may be claimed again; `heartbeat` extends it. */
  leaseMs: number;
  now: number;
}

/** Lease of a claimed job; the worker's heartbeat comes three times as often. Source: design page "connectors". */
export const LEASE_MS = 30_000;

/**
 * Background work across workspaces. Delivery is at least once: what a job does must bear being done again.
 * Every act of a worker names the owner of its claim and does nothing when the claim is no longer its.
 */
export interface QueueStore {
  /**
   * Puts a job in line. A waiting job of the same key is kept and moved to the earlier `runAt` and the more urgent
   * priority of the two; of a claimed one nothing changes.
   * @returns true when it is new
   */
  enqueue(job: NewJob): Promise<boolean>;
  /**
   * Claims at most `limit` due jobs and hides them from others. Workspaces with fewer claimed jobs go first among equal
   * priority, then the earlier `runAt`. Never waits.
   */
  claim(request: ClaimRequest): Promise<ClaimedJob[]>;
  /** Extends the lease. @returns false when the claim was lost */
  heartbeat(jobId: string, owner: string, leaseUntil: number): Promise<boolean>;
  /** The job is done. @returns false when the claim was lost */
  finish(jobId: string, owner: string): Promise<boolean>;
  /** Gives the job back, due again at `runAt`. @returns false when the claim was lost */
  giveBack(jobId: string, owner: string, runAt: number): Promise<boolean>;
  /** Removes the job whoever has claimed it. */
  drop(dedupeKey: string): Promise<void>;
  /** Connectors whose schedule is due, the longest due first. */
  listDueConnectors(now: number, limit: number): Promise<{ workspaceId: string; connectorId: string }[]>;
  /** Active connectors of these kinds that have a schedule; `standing` is another after each change that matters to a watch. */
  listWatchableConnectors(
    providerIds: readonly string[],
  ): Promise<{ workspaceId: string; connectorId: string; standing: string }[]>;
  /** Workspaces that have given out access numbers, after this one in the order of ids, at most `limit`. */
  listWithAccesses(afterWorkspaceId: string, limit: number): Promise<{ workspaceId: string }[]>;
  /** Workspaces with items that were removed before this time. */
  listPurgeable(removedBefore: number, limit: number): Promise<{ workspaceId: string }[]>;
}

/** Milliseconds to wait after the `failures`-th failure in a row: 1 min, 2, 4 … at most 6 h, spread by `random` 0–1. */
export function backOffMs(failures: number, random: number): number {
  const base = Math.min(6 * 3_600_000, 60_000 * 2 ** Math.max(0, failures - 1));
  return Math.round(base * (0.75 + random / 2));
}
