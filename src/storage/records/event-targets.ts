import type { Selectable } from "kysely";
import type { EventType } from "#api/event-types.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { EventTargetsTable } from "#storage/schema.ts";

/** Why a target is paused: an admin did, it answered that it is gone, or it took nothing for days. */
export type PauseReason = "admin" | "gone" | "failing";

/** A URL that events are sent to. Times are epoch milliseconds. */
export interface EventTargetRecord extends Omit<
  EventTargetsTable,
  "workspaceId" | "types" | "state" | "pausedFor" | "leaseOwner" | "leaseUntil"
> {
  types: EventType[];
  state: "active" | "paused";
  pausedFor: PauseReason | null;
}

export type EventTargetPatch = Partial<Omit<EventTargetRecord, "targetId" | "createdAt" | "createdBy">>;

/** A target whose next delivery is due, claimed for one sender. */
export interface ClaimedTarget {
  workspaceId: string;
  target: EventTargetRecord;
}

/** Where a workspace's events go. */
export function makeEventTargetStore(sql: SqlHandles, workspaceId: string) {
  const rows = () => sql.read.selectFrom("event_targets").selectAll().where("workspaceId", "=", workspaceId);
  const change = (targetId: string) =>
    sql.write.updateTable("event_targets").where("workspaceId", "=", workspaceId).where("targetId", "=", targetId);

  return {
    async create(target: EventTargetRecord): Promise<void> {
      await sql.write
        .insertInto("event_targets")
        .values({ workspaceId, ...target, types: JSON.stringify(target.types), leaseOwner: null, leaseUntil: null })
        .execute();
    },

    async find(targetId: string): Promise<EventTargetRecord | undefined> {
      const row = await rows().where("targetId", "=", targetId).executeTakeFirst();
      return row && toRecord(row);
    },

    /** The oldest first. */
    async list(): Promise<EventTargetRecord[]> {
      return (await rows().orderBy("createdAt").orderBy("targetId").execute()).map(toRecord);
    },

    async update(targetId: string, { types, ...patch }: EventTargetPatch): Promise<void> {
      await change(targetId)
        .set({ ...patch, ...(types && { types: JSON.stringify(types) }) })
        .execute();
    },

    /** With its deliveries. */
    async remove(targetId: string): Promise<void> {
      await sql.write
        .deleteFrom("event_targets")
        .where("workspaceId", "=", workspaceId)
        .where("targetId", "=", targetId)
        .execute();
    },

    /** Extends the claim. @returns false when it was lost */
    async extend(targetId: string, owner: string, leaseUntil: number): Promise<boolean> {
      const { numUpdatedRows } = await change(targetId)
        .set({ leaseUntil })
        .where("leaseOwner", "=", owner)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    /** Ends the claim, if it is still this one. */
    async release(targetId: string, owner: string): Promise<void> {
      await change(targetId).set({ leaseOwner: null, leaseUntil: null }).where("leaseOwner", "=", owner).execute();
    },
  };
}

/** Targets across workspaces. */
export function makeEventQueueStore(sql: SqlHandles) {
  return {
    /** Claims the target whose delivery is due longest, for one sender at a time. */
    async claim({
      owner,
      now,
      leaseUntil,
    }: {
      owner: string;
      now: number;
      leaseUntil: number;
    }): Promise<ClaimedTarget | undefined> {
      const due = sql.read
        .selectFrom("event_targets")
        .select(["workspaceId", "targetId"])
        .where("dueAt", "<=", now)
        .where((eb) => eb.or([eb("leaseUntil", "is", null), eb("leaseUntil", "<=", now)]))
        .orderBy("dueAt");
      // One statement, and the single writer runs one after the other: nobody else claims the same.
      for (const { workspaceId, targetId } of await due.limit(20).execute()) {
        const row = await sql.write
          .updateTable("event_targets")
          .set({ leaseOwner: owner, leaseUntil })
          .where("workspaceId", "=", workspaceId)
          .where("targetId", "=", targetId)
          .where("dueAt", "<=", now)
          .where((eb) => eb.or([eb("leaseUntil", "is", null), eb("leaseUntil", "<=", now)]))
          .returningAll()
          .executeTakeFirst();
        if (row) return { workspaceId, target: toRecord(row) };
      }
      return undefined;
    },

    /** Workspaces that have a target. */
    async listWorkspaces(): Promise<string[]> {
      const rows = await sql.read.selectFrom("event_targets").select("workspaceId").distinct().execute();
      return rows.map(({ workspaceId }) => workspaceId);
    },

    /** Targets whose secret before the last rotation signs no longer, and is still kept. */
    async listOverlapsEnded(now: number): Promise<{ workspaceId: string; targetId: string }[]> {
      return sql.read
        .selectFrom("event_targets")
        .select(["workspaceId", "targetId"])
        .where("previousUntil", "<=", now)
        .execute();
    },
  };
}

function toRecord(row: Selectable<EventTargetsTable>): EventTargetRecord {
  const { workspaceId: _, leaseOwner: _owner, leaseUntil: _until, ...rest } = row;
  return {
    ...rest,
    // All three are written from these types only.
    types: JSON.parse(row.types) as EventType[],
    state: row.state as EventTargetRecord["state"],
    pausedFor: row.pausedFor as PauseReason | null,
  };
}
