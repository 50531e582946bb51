import { sql as raw } from "kysely";
import type { ClaimedJob, JobType, QueueStore } from "#storage/records-types/queue.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { JobsTable } from "#storage/schema.ts";

/** The queue on SQL: one table, claimed in one statement of the single writer. */
export function makeQueueStore(sql: SqlHandles): QueueStore {
  const owned = (jobId: string, owner: string) => ({ jobId, leaseOwner: owner });

  return {
    async enqueue(job) {
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

    async claim({ owner, limit, leaseMs, now }) {
      // `returning` gives the row after the update, so who held it before is looked at first, in the same transaction.
      return inTransaction(sql, async (trx) => {
        const due = await trx.write
          .selectFrom("jobs as job")
          .selectAll()
          .where("runAt", "<=", now)
          .where((eb) => eb.or([eb("leaseUntil", "is", null), eb("leaseUntil", "<=", now)]))
          .orderBy("priority")
          .orderBy(
            raw`(select count(*) from jobs as busy where busy."workspaceId" = job."workspaceId" and busy."leaseUntil" > ${now})`,
          )
          .orderBy("runAt")
          .orderBy("jobId")
          .limit(limit)
          .execute();
        for (const job of due) {
          await trx.write
            .updateTable("jobs")
            .set({ leaseOwner: owner, leaseUntil: now + leaseMs, attempt: job.attempt + 1 })
            .where("jobId", "=", job.jobId)
            .execute();
        }
        return due.map(toClaimed);
      });
    },

    async heartbeat(jobId, owner, leaseUntil) {
      return changed(
        sql.write
          .updateTable("jobs")
          .set({ leaseUntil })
          .where(matches(owned(jobId, owner))),
      );
    },
    async finish(jobId, owner) {
      return changed(sql.write.deleteFrom("jobs").where(matches(owned(jobId, owner))));
    },
    async giveBack(jobId, owner, runAt) {
      const free = { runAt, leaseOwner: null, leaseUntil: null };
      return changed(
        sql.write
          .updateTable("jobs")
          .set(free)
          .where(matches(owned(jobId, owner))),
      );
    },
    async drop(dedupeKey) {
      await sql.write.deleteFrom("jobs").where("dedupeKey", "=", dedupeKey).execute();
    },

    listDueConnectors(now, limit) {
      return sql.read
        .selectFrom("connectors")
        .select(["workspaceId", "connectorId"])
        .where("state", "in", ["active", "error"])
        .where("nextRunAt", "<=", now)
        .orderBy("nextRunAt")
        .limit(limit)
        .execute();
    },
    async listWatchableConnectors(providerIds) {
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
    listWithAccesses(afterWorkspaceId, limit) {
      return sql.read
        .selectFrom("access_state")
        .select("workspaceId")
        .where("workspaceId", ">", afterWorkspaceId)
        .orderBy("workspaceId")
        .limit(limit)
        .execute();
    },
    listPurgeable(removedBefore, limit) {
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

/** A transaction of its own, or the one that these handles are. */
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

function toClaimed(job: JobsTable): ClaimedJob {
  return {
    jobId: job.jobId,
    workspaceId: job.workspaceId,
    // Written by `enqueue` only, which takes these types.
    type: job.type as JobType,
    dedupeKey: job.dedupeKey,
    payload: JSON.parse(job.payload) as Record<string, string>,
    priority: job.priority,
    runAt: job.runAt,
    attempt: job.attempt + 1,
    isTakenOver: job.leaseOwner !== null,
  };
}
