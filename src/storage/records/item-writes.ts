import { sql as rawSql } from "kysely";
import type { IndexState } from "#api/common.ts";
import { PART_MARK } from "#core/child-ids.ts";
import { type BatchResult, GUARD_WINDOW_MS, type ItemWriteStore } from "#storage/records-types/item-writes.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { UNTOLD_ACCESS } from "#storage/batch/item-rows.ts";
import type { SweptAccesses } from "#storage/writer/sweep-accesses.ts";

/** The writing side of items: procedures of the writer, and the look-ups that go before them. */
export function makeItemWriteStore(sql: SqlHandles, workspaceId: string): ItemWriteStore {
  const living = (connectorId: string) =>
    sql.read
      .selectFrom("items")
      .where("workspaceId", "=", workspaceId)
      .where("connectorId", "=", connectorId)
      .where("removedAt", "is", null);
  const stored = (connectorId: string) =>
    living(connectorId).select([
      "kbId",
      "externalId",
      "version",
      "indexState",
      "textReason",
      "retryAt",
      "seenBy",
      "parentExternalId",
    ]);

  return {
    applyBatch: (batch) => call<BatchResult>(sql, "applyBatch", { workspaceId, batch }),
    purge: (which) => call<number>(sql, "purgeItems", { workspaceId, ...which }),

    async listStored(connectorId, afterExternalId, limit) {
      const rows = await stored(connectorId)
        .where("externalId", ">", afterExternalId)
        .orderBy("externalId")
        .limit(limit)
        .execute();
      return rows.map(toStored);
    },
    async listStoredOf(connectorId, externalIds) {
      const found = [];
      for (let i = 0; i < externalIds.length; i += 500) {
        const rows = await stored(connectorId)
          .where("externalId", "in", externalIds.slice(i, i + 500))
          .execute();
        found.push(...rows.map(toStored));
      }
      return found;
    },
    async findStored(connectorId, externalId) {
      const row = await stored(connectorId).where("externalId", "=", externalId).executeTakeFirst();
      return row && toStored(row);
    },

    async guardOf(connectorId, now) {
      const { count } = await living(connectorId)
        .select((eb) => eb.fn.countAll().as("count"))
        .executeTakeFirstOrThrow();
      const lately = await sql.read
        .selectFrom("removal_windows")
        .select((eb) => [eb.fn.max("highest").as("highest"), eb.fn.sum("removed").as("removed")])
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where("startsAt", ">", now - GUARD_WINDOW_MS)
        .executeTakeFirst();
      return {
        living: Number(count),
        highest: Math.max(Number(count), Number(lately?.highest ?? 0)),
        removed: Number(lately?.removed ?? 0),
      };
    },
    async forgetVersions(connectorId) {
      await sql.write
        .updateTable("items")
        .set({ version: null })
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where("removedAt", "is", null)
        .execute();
    },
    maskStored: (afterKbId) => call<string | null>(sql, "maskStored", { workspaceId, afterKbId }),
    async countMasked(connectorId) {
      const row = await living(connectorId)
        .where("maskedSecrets", ">", 0)
        .select((eb) => eb.fn.sum("maskedSecrets").as("count"))
        .executeTakeFirst();
      return Number(row?.count ?? 0);
    },
    async resetGuard(connectorId) {
      await sql.write
        .deleteFrom("removal_windows")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
    },

    sweepAccesses: (slice = {}) => call<SweptAccesses>(sql, "sweepAccesses", { workspaceId, ...slice }),

    async listHeld(connectorId, afterKbId, limit) {
      return sql.read
        .selectFrom("removals")
        .select(["kbId", "syncId", "heldAt"])
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where("kbId", ">", afterKbId)
        .orderBy("kbId")
        .limit(limit)
        .execute();
    },
    async countStates(connectorId) {
      const rows = await living(connectorId)
        .select(["indexState", (eb) => eb.fn.countAll().as("count")])
        .groupBy("indexState")
        .execute();
      const counts = { indexed: 0, unsearchable: 0, pending: 0, failed: 0, held: 0 };
      // `indexState` is written by the batch procedure from the same union.
      for (const row of rows) counts[row.indexState as IndexState] = Number(row.count);
      return counts;
    },
    async countHiddenChildren(connectorId) {
      const rows = await living(connectorId)
        .where("aclId", "=", 0)
        .where("parentExternalId", "is not", null)
        .where((eb) => eb.or([eb("ownAclId", "is", null), eb("ownAclId", "<>", 0)]))
        .where(rawSql<boolean>`instr("externalId", ${PART_MARK}) = 0`)
        // What waits for its access is nobody's for no fault of its parents'.
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom("withheld_items as w")
                .select("w.kbId")
                .whereRef("w.workspaceId", "=", "items.workspaceId")
                .whereRef("w.connectorId", "=", "items.connectorId")
                .whereRef("w.kbId", "=", "items.kbId"),
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

interface StoredRow {
  kbId: string;
  externalId: string;
  version: string | null;
  indexState: string;
  textReason: string | null;
  retryAt: number | null;
  seenBy: string | null;
  parentExternalId: string | null;
}

function toStored({ textReason, retryAt, ...row }: StoredRow) {
  return {
    ...row,
    // Written by the batch procedure from the same union.
    indexState: row.indexState as IndexState,
    isRetryable: textReason === "failed" && retryAt !== null,
  };
}

function call<Result>(sql: SqlHandles, name: string, args: unknown): Promise<Result> {
  if (!sql.writer) throw new Error(`${name} is a transaction of its own and can't be part of another one.`);
  return sql.writer.call<Result>(name, args, "batch");
}
