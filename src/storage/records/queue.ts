import { type Selectable, sql as raw } from "kysely";
import { FORMER_TEXT_MS } from "#storage/item-batch.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { Tables } from "#storage/schema.ts";
import { JOBS } from "#storage/tables/jobs.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/** Kinds of background work. */
export type JobType = RecordOf<typeof JOBS>["type"];

export interface NewJob {
  workspaceId: string;
  type: JobType;
  /** At most one job per key exists, waiting or claimed. */
  dedupeKey: string;
  payload: Record<string, string>;
  /** Lower goes first; 10 = a person waits, 20 = schedule, 25 = another turn of a run that has had one, 30 = upkeep. */
  priority: number;
  /** Epoch milliseconds before which it is not claimed. */
  runAt: number;
}

export interface ClaimedJob extends NewJob {
  jobId: string;
  /** Counts claims: 1 = the first. */
  attempt: number;
  /** True when a former claim ended without a report: its worker died or hung. */
  isTakenOver: boolean;
}

export interface ClaimRequest {
  /**
   * Names this claim: unique per worker and call, so that a late worker can't act on a job that another has claimed.
   */
  owner: string;
  /** Jobs, 1–100. */
  limit: number;
  /** Milliseconds until an unfinished job may be claimed again; `heartbeat` extends it. */
  leaseMs: number;
  now: number;
  /** Only these types; all unless given. */
  types?: readonly JobType[];
}

/** Lease of a claimed job; the worker's heartbeat comes three times as often. */
export const LEASE_MS = 30_000;

export type QueueStore = ReturnType<typeof makeQueueStore>;

/**
 * Background work across workspaces. Delivery is at least once: jobs must be safe to repeat. Every act of a worker
 * names the owner of its claim and does nothing once the claim is lost. One table, claimed by the single writer.
 */
// Raw: work across workspaces.
export function makeQueueStore(sql: SqlHandles) {
  const owned = (jobId: string, owner: string) => ({ jobId, leaseOwner: owner });

  return {
    /**
     * Queues a job. A waiting job of the same key is kept and moved to the earlier `runAt` and the more urgent priority
     * of the two; a claimed one is unchanged.
     * @returns true when it is new
     */
    async enqueue(job: NewJob): Promise<boolean> {
      const fresh = await sql.write
        .insertInto("jobs")
        .values({
          ...job,
          jobId: job.dedupeKey,
          payload: JSON.stringify(job.payload),
          attempt: 0,
          createdAt: job.runAt,
        })
        .onConflict((oc) => oc.column("dedupeKey").doNothing())
        .returning("jobId")
        .execute();
      if (fresh.length > 0) return true;
      await sql.write
        .updateTable("jobs")
        .set({
          runAt: raw`min("runAt", ${job.runAt})`,
          priority: raw`min("priority", ${job.priority})`,
        })
        .where("dedupeKey", "=", job.dedupeKey)
        .where("leaseOwner", "is", null)
        .execute();
      return false;
    },

    /**
     * Claims at most `limit` due jobs and hides them from others, one after the other: by priority, which rises with
     * the time that a job waits; then by workspace, the one with the fewest claimed jobs first, and of those the least
     * recently served; then the job that has been due longest. Never waits.
     */
    async claim({ owner, limit, leaseMs, now, types }: ClaimRequest): Promise<ClaimedJob[]> {
      // `returning` gives the row after the update, so the previous holder is read first, in the same transaction.
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
          await trx.write
            .updateTable("jobs")
            .set({ leaseOwner: owner, leaseUntil: now + leaseMs, attempt: job.attempt + 1 })
            .where("jobId", "=", job.jobId)
            .execute();
          await trx.write
            .insertInto("workspace_turns")
            .values({ workspaceId: job.workspaceId, servedAt: now })
            .onConflict((oc) => oc.column("workspaceId").doUpdateSet({ servedAt: now }))
            .execute();
          claimed.push(toClaimed(job));
        }
        return claimed;
      });
    },

    /** How many due jobs are ahead of one due at this time, or queued now. */
    async countWaiting({ priority, runAt }: Pick<NewJob, "priority" | "runAt">, now: number): Promise<number> {
      const { count } = await due(sql.read, now)
        .select((eb) => eb.fn.countAll().as("count"))
        .where(raw<boolean>`(${urgency(now)}, "runAt") < (${effective(priority, runAt, now)}, ${runAt})`)
        .executeTakeFirstOrThrow();
      return Number(count);
    },

    /** The job of this key. */
    async find(
      dedupeKey: string,
    ): Promise<Pick<RecordOf<typeof JOBS>, "priority" | "runAt" | "leaseUntil"> | undefined> {
      return sql.read
        .selectFrom("jobs")
        .select(["priority", "runAt", "leaseUntil"])
        .where("dedupeKey", "=", dedupeKey)
        .executeTakeFirst();
    },

    /**
     * Whether another job that may be claimed now is as urgent as another turn of a run: a run that has had its turn
     * gives way.
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
    async heartbeat(jobId: string, owner: string, leaseUntil: number): Promise<boolean> {
      return changed(
        sql.write
          .updateTable("jobs")
          .set({ leaseUntil })
          .where(matches(owned(jobId, owner))),
      );
    },

    /** The job is done. @returns false when the claim was lost */
    async finish(jobId: string, owner: string): Promise<boolean> {
      return changed(sql.write.deleteFrom("jobs").where(matches(owned(jobId, owner))));
    },

    /**
     * Releases the job, due again at `runAt`, with the priority of a scheduled one or `priority`.
     * @returns false when the claim was lost
     */
    async giveBack(jobId: string, owner: string, runAt: number, priority = USUAL_PRIORITY): Promise<boolean> {
      const free = {
        runAt,
        leaseOwner: null,
        leaseUntil: null,
        priority: raw<number>`max("priority", ${priority})`,
      };
      return changed(
        sql.write
          .updateTable("jobs")
          .set(free)
          .where(matches(owned(jobId, owner))),
      );
    },

    /** Removes the job even when it is claimed. */
    async drop(dedupeKey: string): Promise<void> {
      await sql.write.deleteFrom("jobs").where("dedupeKey", "=", dedupeKey).execute();
    },

    /** Connectors that mirror permissions and have been refused every request since this time or earlier. */
    listRefusedConnectors(before: number): Promise<{ workspaceId: string; connectorId: string }[]> {
      return sql.read
        .selectFrom("connectors")
        .select(["workspaceId", "connectorId"])
        .where("refusedAt", "<=", before)
        .where("aclCheckedAt", "is not", null)
        .execute();
    },

    /** Connectors whose schedule is due, the longest due first. */
    listDueConnectors(now: number, limit: number): Promise<{ workspaceId: string; connectorId: string }[]> {
      return sql.read
        .selectFrom("connectors")
        .select(["workspaceId", "connectorId"])
        .where("state", "in", ["active", "error"])
        .where("nextRunAt", "<=", now)
        .orderBy("nextRunAt")
        .limit(limit)
        .execute();
    },

    /** Connectors with an instant after this one: a clock that has since gone back recorded it. */
    listAhead(after: number): Promise<{ workspaceId: string; connectorId: string }[]> {
      return sql.read
        .selectFrom("connectors as c")
        .leftJoin("people_feeds as f", (on) =>
          on.onRef("f.workspaceId", "=", "c.workspaceId").onRef("f.connectorId", "=", "c.connectorId"),
        )
        .select(["c.workspaceId", "c.connectorId"])
        .distinct()
        .where("c.state", "in", ["active", "error"])
        .where((eb) => eb.or([eb("c.aclCheckedAt", ">", after), eb("f.wholeAt", ">", after)]))
        .execute();
    },

    /** Connectors whose users and groups are due to be read, the longest due first. */
    listDueIdentities(now: number, limit: number): Promise<{ workspaceId: string; connectorId: string }[]> {
      return sql.read
        .selectFrom("identity_schedules as s")
        .innerJoin("connectors as c", (on) =>
          on.onRef("c.workspaceId", "=", "s.workspaceId").onRef("c.connectorId", "=", "s.connectorId"),
        )
        .select(["s.workspaceId", "s.connectorId"])
        .where("c.state", "in", ["active", "error"])
        .where("s.nextRunAt", "<=", now)
        .orderBy("s.nextRunAt")
        .limit(limit)
        .execute();
    },

    /**
     * Active connectors of these kinds that have a schedule; `standing` changes with each change that matters to a
     * watch.
     */
    async listWatchableConnectors(
      providerIds: readonly string[],
    ): Promise<{ workspaceId: string; connectorId: string; standing: string }[]> {
      const rows = await sql.read
        .selectFrom("connectors")
        .select(["workspaceId", "connectorId", "scopeVersion", "visibility"])
        .where("state", "=", "active")
        .where("everyMinutes", "is not", null)
        .where("providerId", "in", providerIds)
        .execute();
      return rows.map(({ workspaceId, connectorId, scopeVersion, visibility }) => {
        return { workspaceId, connectorId, standing: `${scopeVersion} ${visibility}` };
      });
    },

    /** Workspaces that have given out access numbers, after this one in the order of ids, at most `limit`. */
    listWithAccesses(afterWorkspaceId: string, limit: number): Promise<{ workspaceId: string }[]> {
      return sql.read
        .selectFrom("access_state")
        .select("workspaceId")
        .where("workspaceId", ">", afterWorkspaceId)
        .orderBy("workspaceId")
        .limit(limit)
        .execute();
    },

    /** Workspaces with items whose content could not be read since this time or longer. */
    listFormer(since: number, limit: number): Promise<{ workspaceId: string }[]> {
      return sql.read
        .selectFrom("items")
        .select("workspaceId")
        .distinct()
        .where(raw<boolean>`("formerSince" <= ${since} or "formerSince" >= ${since + 2 * FORMER_TEXT_MS})`)
        .where("removedAt", "is", null)
        .limit(limit)
        .execute();
    },

    /** Workspaces with items that were removed before this time. */
    listPurgeable(removedBefore: number, limit: number): Promise<{ workspaceId: string }[]> {
      return sql.read
        .selectFrom("items")
        .select("workspaceId")
        .distinct()
        .where("removedAt", "<", removedBefore)
        .limit(limit)
        .execute();
    },
  };
}

/** The priority of scheduled work. */
export const USUAL_PRIORITY = 20;
/** The priority of work that no one waits for. */
export const UPKEEP_PRIORITY = 30;
/** The priority of a run that has had a turn: new runs come before continued ones. */
export const SLICE_PRIORITY = 25;
/** A waiting job rises by one priority in this time, so that none waits forever. */
const RISE_MS = 30_000;

// Raw: across workspaces.
function due(db: SqlHandles["read"], now: number) {
  return db
    .selectFrom("jobs as job")
    .where("runAt", "<=", now)
    .where((eb) => eb.or([eb("leaseUntil", "is", null), eb("leaseUntil", "<=", now)]));
}

/** Rises in steps: a number as large as an instant is bound as a real one, and would make no two jobs equally urgent. */
function urgency(now: number) {
  return raw<number>`("priority" - cast(${now} - "runAt" as integer) / ${RISE_MS})`;
}

function effective(priority: number, runAt: number, now: number): number {
  return priority - Math.floor(Math.max(0, now - runAt) / RISE_MS);
}

/** Milliseconds to wait after the `failures`-th failure in a row: 1 min, 2, 4 … at most 6 h, spread by `random` 0–1. */
export function backOffMs(failures: number, random: number): number {
  const base = Math.min(6 * 3_600_000, 60_000 * 2 ** Math.max(0, failures - 1));
  return Math.round(base * (0.75 + random / 2));
}

/** Runs the work in a new transaction, or in the one these handles belong to. */
function inTransaction<T>(sql: SqlHandles, work: (sql: SqlHandles) => Promise<T>): Promise<T> {
  if (sql.writer === undefined) return work(sql);
  return sql.write.transaction().execute((trx) => work({ read: trx, write: trx, writer: undefined }));
}

function matches({ jobId, leaseOwner }: { jobId: string; leaseOwner: string }) {
  return raw<boolean>`"jobId" = ${jobId} and "leaseOwner" = ${leaseOwner}`;
}

async function changed(query: {
  executeTakeFirst(): Promise<{ numUpdatedRows?: bigint; numDeletedRows?: bigint } | undefined>;
}): Promise<boolean> {
  const result = await query.executeTakeFirst();
  return (result?.numUpdatedRows ?? result?.numDeletedRows ?? 0n) > 0n;
}

function toClaimed(row: Selectable<Tables["jobs"]>): ClaimedJob {
  const { leaseOwner, leaseUntil: _until, createdAt: _created, ...job } = JOBS.read(row);
  return { ...job, attempt: job.attempt + 1, isTakenOver: leaseOwner !== null };
}
