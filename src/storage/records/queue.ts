import { type Selectable, sql as raw } from "kysely";
import { FORMER_TEXT_MS } from "#storage/item-batch.ts";
import { nullOr, onSame } from "#storage/conditions.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces, inWorkspace } from "#storage/in-workspace.ts";
import { changesOf, countOf } from "#storage/results.ts";
import type { Tables } from "#storage/schema.ts";
import { ACCESS_STATE } from "#storage/tables/access.ts";
import { CONNECTORS, IDENTITY_SCHEDULES } from "#storage/tables/connectors.ts";
import { PEOPLE_FEEDS } from "#storage/tables/identities.ts";
import { ITEMS } from "#storage/tables/items.ts";
import { JOBS, WORKSPACE_TURNS } from "#storage/tables/jobs.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/** Kinds of background work. */
export type JobType = RecordOf<typeof JOBS>["type"];

export interface NewJob {
  workspaceId: string;
  type: JobType;
  /** At most one job, waiting or claimed, has a given key. */
  dedupeKey: string;
  payload: Record<string, string>;
  /**
   * Jobs with a lower number go first: 10 = a person waits, 20 = schedule, 25 = the next turn of a run that has had
   * one, 30 = upkeep.
   */
  priority: number;
  /** Epoch milliseconds before which the job is not claimed. */
  runAt: number;
}

export interface ClaimedJob extends NewJob {
  jobId: string;
  /** How often the job was claimed: 1 = this is the first claim. */
  attempt: number;
  /** True when an earlier claim ended without a report, because its worker died or hung. */
  isTakenOver: boolean;
}

export interface ClaimRequest {
  /**
   * Identifies this claim. Unique per worker and call, so that a late worker can't act on a job that another has
   * claimed.
   */
  owner: string;
  /** The number of jobs, 1–100. */
  limit: number;
  /** Milliseconds after which an unfinished job may be claimed again; `heartbeat` extends them. */
  leaseMs: number;
  now: number;
  /** Only jobs of these types. Default: all types. */
  types?: readonly JobType[];
}

/** Lease of a claimed job. The worker sends three heartbeats in this time. */
export const LEASE_MS = 30_000;

export type QueueStore = ReturnType<typeof makeQueueStore>;

/**
 * Reads and writes background work across workspaces. Delivery is at least once, so jobs must be safe to repeat. Every
 * method that a worker calls takes the owner of its claim and does nothing once the claim is lost. There is one table,
 * and the single writer does all claims.
 */
// Raw: work across workspaces.
export function makeQueueStore(sql: SqlHandles) {
  const jobs = acrossWorkspaces(sql, JOBS);
  const connectors = acrossWorkspaces(sql, CONNECTORS);
  const schedules = acrossWorkspaces(sql, IDENTITY_SCHEDULES);
  const items = acrossWorkspaces(sql, ITEMS);

  return {
    /**
     * Queues a job. A waiting job with the same key is kept and gets the earlier `runAt` and the more urgent priority
     * of the two. A claimed one is unchanged.
     * @returns true when the job is new
     */
    async enqueue(job: NewJob): Promise<boolean> {
      const free = { leaseOwner: null, leaseUntil: null };
      const inserting = jobs.inserting({ ...job, jobId: job.dedupeKey, attempt: 0, createdAt: job.runAt, ...free });
      const isNew = await changesOf(inserting.onConflict((oc) => oc.column("dedupeKey").doNothing()));
      if (isNew) return true;
      await jobs
        .updating({ dedupeKey: job.dedupeKey, leaseOwner: null })
        .set({
          runAt: raw`min("runAt", ${job.runAt})`,
          priority: raw`min("priority", ${job.priority})`,
        })
        .execute();
      return false;
    },

    /**
     * Claims at most `limit` due jobs and hides them from others. Jobs are chosen one after the other: by priority,
     * which rises with the time that a job waits; then by workspace, the one with the fewest claimed jobs first and, of
     * those, the least recently served; then the job that has been due longest. Never waits.
     */
    async claim({ owner, limit, leaseMs, now, types }: ClaimRequest): Promise<ClaimedJob[]> {
      // `returning` returns the row after the update, so the previous holder is read first, in the same transaction.
      return inTransaction(sql, async (trx) => {
        const claimed: ClaimedJob[] = [];
        while (claimed.length < limit) {
          const job = await due(trx.write, now)
            .selectAll()
            .$if(types !== undefined, (query) => query.where("type", "in", types ?? []))
            .orderBy(urgency(now))
            .orderBy(
              raw`(select count(*) from jobs as busy where busy."workspaceId" = job."workspaceId" and busy."leaseUntil" > ${now})`,
            )
            .orderBy(
              raw`coalesce((select "servedAt" from workspace_turns as turn where turn."workspaceId" = job."workspaceId"), 0)`,
            )
            .orderBy("runAt")
            .orderBy("jobId")
            .limit(1)
            .executeTakeFirst();
          if (!job) break;
          const claim = { leaseOwner: owner, leaseUntil: now + leaseMs, attempt: job.attempt + 1 };
          await acrossWorkspaces(trx, JOBS).update({ jobId: job.jobId }, claim);
          await inWorkspace(trx, job.workspaceId, WORKSPACE_TURNS).insert({ servedAt: now }, { servedAt: now });
          claimed.push(toClaimed(job));
        }
        return claimed;
      });
    },

    /** Counts the due jobs that are ahead of one with this priority that is due at this time. */
    countWaiting({ priority, runAt }: Pick<NewJob, "priority" | "runAt">, now: number): Promise<number> {
      const place = raw`(${effective(priority, runAt, now)}, ${runAt})`;
      return countOf(due(sql.read, now).where(raw<boolean>`(${urgency(now)}, "runAt") < ${place}`));
    },

    /** Returns the job with this key. */
    find: (dedupeKey: string) => jobs.find({ dedupeKey }),

    /**
     * Whether another job that may be claimed now is at least as urgent as the next turn of a run. A run that has had
     * its turn then lets the other job go first.
     */
    async isOtherWaiting(jobId: string, now: number): Promise<boolean> {
      const other = await due(sql.read, now)
        .select("jobId")
        .where("jobId", "<>", jobId)
        .where(raw<boolean>`${urgency(now)} <= ${SLICE_PRIORITY}`)
        .limit(1)
        .executeTakeFirst();
      return other !== undefined;
    },

    /** Extends the lease. @returns false when the claim was lost */
    heartbeat: async (jobId: string, leaseOwner: string, leaseUntil: number): Promise<boolean> =>
      (await jobs.update({ jobId, leaseOwner }, { leaseUntil })) > 0,

    /** Removes a job that is done. @returns false when the claim was lost */
    finish: async (jobId: string, leaseOwner: string): Promise<boolean> =>
      (await jobs.remove({ jobId, leaseOwner })) > 0,

    /**
     * Releases the job, which is due again at `runAt`, with `priority` or, by default, that of a scheduled job.
     * @returns false when the claim was lost
     */
    async giveBack(jobId: string, leaseOwner: string, runAt: number, priority = USUAL_PRIORITY): Promise<boolean> {
      const free = {
        runAt,
        leaseOwner: null,
        leaseUntil: null,
        priority: raw<number>`max("priority", ${priority})`,
      };
      return (await changesOf(jobs.updating({ jobId, leaseOwner }).set(free))) > 0;
    },

    /** Removes the job with this key, even if it is claimed. */
    drop: (dedupeKey: string) => jobs.remove({ dedupeKey }),

    /**
     * Returns connectors that mirror permissions and whose source has refused every request since this time or earlier.
     */
    listRefusedConnectors: (before: number) =>
      connectors
        .select()
        .select(["workspaceId", "connectorId"])
        .where("refusedAt", "<=", before)
        .where("aclCheckedAt", "is not", null)
        .execute(),

    /** Returns connectors whose schedule is due, the longest due first. */
    listDueConnectors: (now: number, limit: number) =>
      connectors
        .select()
        .select(["workspaceId", "connectorId"])
        .where("state", "in", ["active", "error"])
        .where("nextRunAt", "<=", now)
        .orderBy("nextRunAt")
        .limit(limit)
        .execute(),

    /** Returns connectors with a recorded instant after this one, which was recorded before the clock was set back. */
    listAhead: (after: number) =>
      connectors
        .select()
        .leftJoin("people_feeds", onSame(PEOPLE_FEEDS, CONNECTORS, "connectorId"))
        .select(["connectors.workspaceId", "connectors.connectorId"])
        .distinct()
        .where("connectors.state", "in", ["active", "error"])
        .where((eb) => eb.or([eb("connectors.aclCheckedAt", ">", after), eb("people_feeds.wholeAt", ">", after)]))
        .execute(),

    /** Returns connectors whose users and groups are due to be read, the longest due first. */
    listDueIdentities: (now: number, limit: number) =>
      schedules
        .select()
        .innerJoin("connectors", onSame(CONNECTORS, IDENTITY_SCHEDULES, "connectorId"))
        .select(["connectors.workspaceId", "connectors.connectorId"])
        .where("connectors.state", "in", ["active", "error"])
        .where("identity_schedules.nextRunAt", "<=", now)
        .orderBy("identity_schedules.nextRunAt")
        .limit(limit)
        .execute(),

    /**
     * Returns active connectors of these kinds that have a schedule. `standing` changes with each change that matters
     * to a watch.
     */
    async listWatchableConnectors(
      providerIds: readonly string[],
    ): Promise<{ workspaceId: string; connectorId: string; standing: string }[]> {
      const rows = await connectors
        .select({ state: "active" })
        .select(["workspaceId", "connectorId", "scopeVersion", "visibility"])
        .where("everyMinutes", "is not", null)
        .where("providerId", "in", providerIds)
        .execute();
      return rows.map(({ workspaceId, connectorId, scopeVersion, visibility }) => {
        return { workspaceId, connectorId, standing: `${scopeVersion} ${visibility}` };
      });
    },

    /** Returns workspaces that have assigned access numbers, after this one in the order of ids, at most `limit`. */
    listWithAccesses: (afterWorkspaceId: string, limit: number) =>
      acrossWorkspaces(sql, ACCESS_STATE)
        .select()
        .select("workspaceId")
        .where("workspaceId", ">", afterWorkspaceId)
        .orderBy("workspaceId")
        .limit(limit)
        .execute(),

    /** Returns workspaces with items whose content became unreadable at this time or earlier. */
    listFormer: (since: number, limit: number) =>
      items
        .select({ removedAt: null })
        .select("workspaceId")
        .distinct()
        .where(raw<boolean>`("formerSince" <= ${since} or "formerSince" >= ${since + 2 * FORMER_TEXT_MS})`)
        .limit(limit)
        .execute(),

    /** Returns workspaces with items that were removed before this time. */
    listPurgeable: (removedBefore: number, limit: number) =>
      items.select().select("workspaceId").distinct().where("removedAt", "<", removedBefore).limit(limit).execute(),
  };
}

/** The priority of scheduled work. */
export const USUAL_PRIORITY = 20;
/** The priority of work that no one waits for. */
export const UPKEEP_PRIORITY = 30;
/** The priority of a run that has had a turn. New runs have priority over such runs. */
export const SLICE_PRIORITY = 25;
/** In this time a waiting job rises by one priority, so that no job waits forever. */
const RISE_MS = 30_000;

// Raw: across workspaces.
function due(db: SqlHandles["read"], now: number) {
  return db
    .selectFrom("jobs as job")
    .where("runAt", "<=", now)
    .where((eb) => nullOr(eb, "leaseUntil", "<=", now));
}

/**
 * Returns a job's urgency, which rises in steps. A number as large as an instant would be bound as a floating-point
 * number, and no two jobs would be equally urgent.
 */
function urgency(now: number) {
  return raw<number>`("priority" - cast(${now} - "runAt" as integer) / ${RISE_MS})`;
}

function effective(priority: number, runAt: number, now: number): number {
  return priority - Math.floor(Math.max(0, now - runAt) / RISE_MS);
}

/**
 * Returns how many milliseconds to wait after the `failures`-th consecutive failure: 1 min, 2, 4 … at most 6 h, spread
 * by `random` 0–1.
 */
export function backOffMs(failures: number, random: number): number {
  const base = Math.min(6 * 3_600_000, 60_000 * 2 ** Math.max(0, failures - 1));
  return Math.round(base * (0.75 + random / 2));
}

/** Runs the work in a new transaction, or in the transaction to which these handles belong. */
function inTransaction<T>(sql: SqlHandles, work: (sql: SqlHandles) => Promise<T>): Promise<T> {
  if (sql.writer === undefined) return work(sql);
  return sql.write.transaction().execute((trx) => work({ read: trx, write: trx, writer: undefined }));
}

function toClaimed(row: Selectable<Tables["jobs"]>): ClaimedJob {
  const { leaseOwner, leaseUntil: _until, createdAt: _created, ...job } = JOBS.read(row);
  return { ...job, attempt: job.attempt + 1, isTakenOver: leaseOwner !== null };
}
