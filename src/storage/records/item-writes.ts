import { sql as rawSql } from "kysely";
import type { IndexState } from "#api/common.ts";
import { CHILD_MARK } from "#core/child-ids.ts";
import {
  type BatchResult,
  GUARD_WINDOW_MS,
  type ItemBatch,
  UNTOLD_ACCESS,
  type SweptAccesses,
} from "#storage/item-batch.ts";
import { makeOlderItemStore } from "./older-items.ts";
import { makeStoredItemStore } from "./stored-items.ts";
import { makeReadElsewhereStore } from "./read-elsewhere.ts";
import { callWriter, type SqlHandles } from "#storage/handles.ts";
import { same } from "#storage/conditions.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { countOf } from "#storage/results.ts";
import { ITEMS, REMOVALS, REMOVAL_WINDOWS, WITHHELD_ITEMS } from "#storage/tables/items.ts";

export interface HeldRemoval {
  kbId: string;
  syncId: string | null;
  heldAt: number;
}

/** An item that was removed. */
export interface RemovedItem {
  kbId: string;
  connectorId: string;
  externalId: string;
  removedAt: number;
}

export interface HiddenChildCounts {
  /** Child items that are hidden because of their parents. */
  parentMissing: number;
  /** Child items that were stored before a child could have its own access, and haven't been pushed since. */
  awaitingPush: number;
}

export interface RemovalGuard {
  /** The number of living items now. */
  living: number;
  /** The highest number of living items within the last 24 hours. */
  highest: number;
  /** The number of items removed within the last 24 hours, without approved removals. */
  removed: number;
}

export type ItemWriteStore = ReturnType<typeof makeItemWriteStore>;

/** How long a removed item can be restored. */
export const KEEP_REMOVED_MS = 7 * 24 * 3_600_000;

/**
 * Writes items, and reads what writers need to know before they write. Nothing here checks access. Writes of many rows
 * are procedures of the writer.
 */
export function makeItemWriteStore(sql: SqlHandles, workspaceId: string) {
  const items = inWorkspace(sql, workspaceId, ITEMS);
  const living = (connectorId: string) => items.select({ connectorId, removedAt: null });

  const removed = (since: number) =>
    items
      .select()
      .select(["kbId", "connectorId", "externalId", "removedAt"])
      .where("removedAt", ">", since)
      .where(rawSql<boolean>`instr("externalId", ${CHILD_MARK}) = 0`);

  return {
    ...makeStoredItemStore(sql, workspaceId),
    ...makeOlderItemStore(sql, workspaceId),
    ...makeReadElsewhereStore(sql, workspaceId),
    /**
     * Applies all ops, the cursor and the run's or upload's progress in one transaction: all or nothing. Idempotent.
     *
     * @throws ApiError `push_upload_over` when the batch's upload is over, `unavailable` when the batch expects another
     * version of an item than the stored one
     */
    applyBatch: (batch: ItemBatch): Promise<BatchResult> =>
      callWriter<BatchResult>(sql, "applyBatch", { workspaceId, batch }),

    /**
     * Permanently deletes at most `limit` items of the connector, or only those removed before a time, with their
     * texts, entity rows and index entries.
     * @returns how many were deleted; fewer than `limit` = nothing is left
     */
    purge: (which: { connectorId?: string; removedBefore?: number; limit: number }): Promise<number> =>
      callWriter<number>(sql, "purgeItems", { workspaceId, ...which }),

    async guardOf(connectorId: string, now: number): Promise<RemovalGuard> {
      const count = await countOf(living(connectorId));
      const lately = await inWorkspace(sql, workspaceId, REMOVAL_WINDOWS)
        .select({ connectorId })
        .select((eb) => [eb.fn.max("highest").as("highest"), eb.fn.sum("removed").as("removed")])
        .where("startsAt", ">", now - GUARD_WINDOW_MS)
        .executeTakeFirst();
      return {
        living: count,
        highest: Math.max(count, Number(lately?.highest ?? 0)),
        removed: Number(lately?.removed ?? 0),
      };
    },

    /** Makes the next run read every item again, whatever its version. */
    async forgetVersions(connectorId: string): Promise<void> {
      await items.updating({ connectorId, removedAt: null }).set({ version: null }).execute();
    },

    /**
     * Masks the secrets in some stored items after this kbId, in its order. Their index entries follow.
     * @returns the last kbId that was processed; null = there are no more
     */
    maskStored: (afterKbId: string): Promise<string | null> =>
      callWriter<string | null>(sql, "maskStored", { workspaceId, afterKbId }),

    /** Returns the number of secrets that were masked in the connector's living items. */
    async countMasked(connectorId: string): Promise<number> {
      const row = await living(connectorId)
        .where("maskedSecrets", ">", 0)
        .select((eb) => eb.fn.sum("maskedSecrets").as("count"))
        .executeTakeFirst();
      return Number(row?.count ?? 0);
    },

    /** Whether a secret was masked in a living item, or in one inside it. */
    async hasMasked(connectorId: string, externalId: string): Promise<boolean> {
      const inside = `${externalId}${CHILD_MARK}`;
      const row = await living(connectorId)
        .where("maskedSecrets", ">", 0)
        .where((eb) =>
          eb.or([
            eb("externalId", "=", externalId),
            rawSql<boolean>`substr("externalId", 1, length(${inside})) = ${inside}`,
          ]),
        )
        .select("kbId")
        .executeTakeFirst();
      return row !== undefined;
    },

    /** Counts living items whose own clock is at or before this instant. */
    countStale: (connectorId: string, checkedAt: number): Promise<number> =>
      countOf(living(connectorId).where("ownClockAt", "is not", null).where("ownClockAt", "<=", checkedAt)),

    /** Forgets recent removals, because a person has approved them. */
    resetGuard: (connectorId: string) => inWorkspace(sql, workspaceId, REMOVAL_WINDOWS).remove({ connectorId }),

    /**
     * Deletes unused accesses and lists of the workspace, one slice at a time; call it again until `isDone`. Other work
     * may continue during the sweep. `page` and `steps` make slices smaller.
     */
    sweepAccesses: (
      slice: {
        page?: number;
        steps?: number;
      } = {},
    ): Promise<{ isDone: boolean; accesses: number; lists: number }> =>
      callWriter<SweptAccesses>(sql, "sweepAccesses", { workspaceId, ...slice }),

    /** Returns held removals after this kbId, ascending, at most `limit`. */
    async listHeld(connectorId: string, afterKbId: string, limit: number): Promise<HeldRemoval[]> {
      return inWorkspace(sql, workspaceId, REMOVALS)
        .select({ connectorId })
        .select(["kbId", "syncId", "heldAt"])
        .where("kbId", ">", afterKbId)
        .orderBy("kbId")
        .limit(limit)
        .execute();
    },

    /**
     * Returns items that were removed after this instant and can be restored, by kbId after this one. Files inside
     * files are restored with the item that contains them.
     */
    async listRemoved(
      connectorId: string,
      { since, afterKbId, limit }: { since: number; afterKbId: string; limit: number },
    ): Promise<RemovedItem[]> {
      const rows = await removed(since)
        .where("connectorId", "=", connectorId)
        .where("kbId", ">", afterKbId)
        .orderBy("kbId")
        .limit(limit)
        .execute();
      return rows.map((row) => ({ ...row, removedAt: row.removedAt ?? 0 }));
    },

    /** Returns one removed item, from any connector. */
    async findRemoved(kbId: string, since: number): Promise<RemovedItem | undefined> {
      const row = await removed(since).where("kbId", "=", kbId).executeTakeFirst();
      return row && { ...row, removedAt: row.removedAt ?? 0 };
    },

    /** Counts living items by state. */
    async countStates(connectorId: string): Promise<Record<IndexState, number>> {
      const rows = await living(connectorId)
        .select(["indexState", (eb) => eb.fn.countAll().as("count")])
        .groupBy("indexState")
        .execute();
      const counts = { indexed: 0, unsearchable: 0, pending: 0, failed: 0, held: 0 };
      for (const row of rows) counts[row.indexState] = Number(row.count);
      return counts;
    },

    /** Counts living items whose own access names no one. */
    countNobodys: (connectorId: string): Promise<number> => countOf(living(connectorId).where("ownAclId", "=", 0)),

    /** Counts living children that are hidden from everyone, without files inside files. */
    async countHiddenChildren(connectorId: string): Promise<HiddenChildCounts> {
      const rows = await living(connectorId)
        .where("aclId", "=", 0)
        .where("parentExternalId", "is not", null)
        .where((eb) => eb.or([eb("ownAclId", "is", null), eb("ownAclId", "<>", 0)]))
        .where(rawSql<boolean>`instr("externalId", ${CHILD_MARK}) = 0`)
        // Items that wait for their access to be computed are hidden for another reason than their parents.
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom("withheld_items")
                .select("withheld_items.kbId")
                .where(same(WITHHELD_ITEMS, ITEMS, "connectorId", "kbId")),
            ),
          ),
        )
        .select(["ownAclId", (eb) => eb.fn.countAll().as("count")])
        .groupBy("ownAclId")
        .execute();
      const counts = { parentMissing: 0, awaitingPush: 0 };
      for (const { ownAclId, count } of rows) {
        counts[ownAclId === UNTOLD_ACCESS ? "awaitingPush" : "parentMissing"] += Number(count);
      }
      return counts;
    },
  };
}
