import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { EVENT_TARGETS } from "#storage/tables/events.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/** A URL that events are sent to. Times are epoch milliseconds. */
export type EventTargetRecord = RecordOf<typeof EVENT_TARGETS>;
/** Why a target is paused. */
export type PauseReason = NonNullable<EventTargetRecord["pausedFor"]>;

export type EventTargetPatch = Partial<Omit<EventTargetRecord, "targetId" | "createdAt" | "createdBy">>;

/** A target whose next delivery is due, claimed for one sender. */
export interface ClaimedTarget {
  workspaceId: string;
  target: EventTargetRecord;
}

/** Where a workspace's events go. */
export function makeEventTargetStore(sql: SqlHandles, workspaceId: string) {
  const targets = inWorkspace(sql, workspaceId, EVENT_TARGETS);
  return {
    create: targets.insert,

    find: (targetId: string): Promise<EventTargetRecord | undefined> => targets.find({ targetId }),

    /** The oldest first. */
    async list(): Promise<EventTargetRecord[]> {
      const rows = await targets.select().selectAll().orderBy("createdAt").orderBy("targetId").execute();
      return rows.map(EVENT_TARGETS.read);
    },

    async update(targetId: string, patch: EventTargetPatch): Promise<void> {
      await targets.update({ targetId }, patch);
    },

    /** With its deliveries. */
    async remove(targetId: string): Promise<void> {
      await targets.remove({ targetId });
    },

    /** Extends the claim. @returns false when it was lost */
    extend: async (targetId: string, leaseOwner: string, leaseUntil: number): Promise<boolean> =>
      (await targets.update({ targetId, leaseOwner }, { leaseUntil })) === 1,

    /** Ends the claim, if it is still this one. */
    async release(targetId: string, leaseOwner: string): Promise<void> {
      await targets.update({ targetId, leaseOwner }, { leaseOwner: null, leaseUntil: null });
    },
  };
}

/** Targets across workspaces. */
// Raw: across workspaces.
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
      // One statement, and the single writer runs one after the other: no other sender claims the same target.
      for (const { workspaceId, targetId } of await due.limit(20).execute()) {
        const row = await inWorkspace(sql, workspaceId, EVENT_TARGETS)
          .updating({ targetId })
          .set({ leaseOwner: owner, leaseUntil })
          .where("dueAt", "<=", now)
          .where((eb) => eb.or([eb("leaseUntil", "is", null), eb("leaseUntil", "<=", now)]))
          .returningAll()
          .executeTakeFirst();
        if (row) return { workspaceId, target: EVENT_TARGETS.read(row) };
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
