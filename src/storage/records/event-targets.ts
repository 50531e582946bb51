import type { SqlHandles } from "#storage/handles.ts";
import { nullOr } from "#storage/conditions.ts";
import { acrossWorkspaces, inWorkspace } from "#storage/in-workspace.ts";
import { firstOf, recordsOf } from "#storage/results.ts";
import { EVENT_TARGETS } from "#storage/tables/events.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/** A URL to which events are sent. Times are epoch milliseconds. */
export type EventTargetRecord = RecordOf<typeof EVENT_TARGETS>;
/** Why a target is paused. */
export type PauseReason = NonNullable<EventTargetRecord["pausedFor"]>;

export type EventTargetPatch = Partial<Omit<EventTargetRecord, "targetId" | "createdAt" | "createdBy">>;

/** A target whose next delivery is due and that one sender has claimed. */
export interface ClaimedTarget {
  workspaceId: string;
  target: EventTargetRecord;
}

/** Reads and writes the targets of a workspace's events. */
export function makeEventTargetStore(sql: SqlHandles, workspaceId: string) {
  const targets = inWorkspace(sql, workspaceId, EVENT_TARGETS);
  return {
    create: targets.insert,

    find: (targetId: string) => targets.find({ targetId }),

    /** Returns the targets, the oldest first. */
    list: () => recordsOf(EVENT_TARGETS, targets.select().selectAll().orderBy("createdAt").orderBy("targetId")),

    update: (targetId: string, patch: EventTargetPatch) => targets.update({ targetId }, patch),

    /** Deletes a target with its deliveries. */
    remove: (targetId: string) => targets.remove({ targetId }),

    /** Extends the claim. @returns false when the claim was lost */
    extend: async (targetId: string, leaseOwner: string, leaseUntil: number): Promise<boolean> =>
      (await targets.update({ targetId, leaseOwner }, { leaseUntil })) === 1,

    /** Ends this claim, if the target still has it. */
    release: (targetId: string, leaseOwner: string) =>
      targets.update({ targetId, leaseOwner }, { leaseOwner: null, leaseUntil: null }),
  };
}

/** Reads and writes targets across workspaces. */
// Raw: across workspaces.
export function makeEventQueueStore(sql: SqlHandles) {
  const targets = acrossWorkspaces(sql, EVENT_TARGETS);
  return {
    /** Claims the target whose delivery has been due longest, for one sender at a time. */
    async claim({
      owner,
      now,
      leaseUntil,
    }: {
      owner: string;
      now: number;
      leaseUntil: number;
    }): Promise<ClaimedTarget | undefined> {
      const due = targets
        .select()
        .select(["workspaceId", "targetId"])
        .where("dueAt", "<=", now)
        .where((eb) => nullOr(eb, "leaseUntil", "<=", now))
        .orderBy("dueAt");
      // Each claim is one statement, and the single writer runs statements one after the other, so no other sender
      // claims the same target.
      for (const { workspaceId, targetId } of await due.limit(20).execute()) {
        const claiming = inWorkspace(sql, workspaceId, EVENT_TARGETS)
          .updating({ targetId })
          .set({ leaseOwner: owner, leaseUntil })
          .where("dueAt", "<=", now)
          .where((eb) => nullOr(eb, "leaseUntil", "<=", now));
        const target = await firstOf(EVENT_TARGETS, claiming.returningAll());
        if (target) return { workspaceId, target };
      }
      return undefined;
    },

    /** Returns the workspaces that have a target. */
    async listWorkspaces(): Promise<string[]> {
      const rows = await targets.select().select("workspaceId").distinct().execute();
      return rows.map(({ workspaceId }) => workspaceId);
    },

    /** Returns targets for which the secret before the last rotation no longer signs but is still kept. */
    listOverlapsEnded: (now: number) =>
      targets.select().select(["workspaceId", "targetId"]).where("previousUntil", "<=", now).execute(),
  };
}
