import { sql as raw, type Selectable, type Updateable } from "kysely";
import type { SourceProblem } from "#api/common.ts";
import type { SyncCounts, SyncProgress } from "#storage/records-types/item-writes.ts";
import {
  NO_COUNTS,
  OPEN_SYNC_STATES,
  type SyncMode,
  type SyncPatch,
  type SyncRecord,
  type SyncState,
  type SyncStore,
  type SyncTrigger,
} from "#storage/records-types/syncs.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { SyncsTable } from "#storage/schema.ts";

/** Runs of connectors, on SQL. */
export function makeSyncStore(sql: SqlHandles, workspaceId: string): SyncStore {
  const syncs = () => sql.read.selectFrom("syncs").selectAll().where("workspaceId", "=", workspaceId);

  return {
    async create({ syncId, connectorId, createdAt, ...rest }) {
      // A whole record gives every column.
      const row = toRow(rest) as Omit<SyncsTable, "workspaceId" | "syncId" | "connectorId" | "createdAt">;
      await sql.write
        .insertInto("syncs")
        .values({ ...row, workspaceId, syncId, connectorId, createdAt })
        .execute();
    },
    async find(syncId) {
      const row = await syncs().where("syncId", "=", syncId).executeTakeFirst();
      return row && toRecord(row);
    },
    async update(syncId, patch) {
      const row = toRow(patch);
      if (Object.keys(row).length === 0) return;
      await sql.write
        .updateTable("syncs")
        .set(row)
        .where("workspaceId", "=", workspaceId)
        .where("syncId", "=", syncId)
        .execute();
    },
    async list(connectorId, limit, after) {
      let query = syncs().where("connectorId", "=", connectorId);
      if (after) query = query.where(raw<boolean>`("createdAt", "syncId") < (${after.createdAt}, ${after.syncId})`);
      const rows = await query.orderBy("createdAt", "desc").orderBy("syncId", "desc").limit(limit).execute();
      return rows.map(toRecord);
    },
    async listOpen(connectorIds) {
      if (connectorIds.length === 0) return [];
      const rows = await syncs()
        .where("connectorId", "in", [...connectorIds])
        .where("state", "in", [...OPEN_SYNC_STATES])
        .orderBy("createdAt")
        .orderBy("syncId")
        .execute();
      return rows.map(toRecord);
    },
    async listLast(connectorIds) {
      const last: SyncRecord[] = [];
      for (const connectorId of connectorIds) {
        const row = await syncs()
          .where("connectorId", "=", connectorId)
          .where("finishedAt", "is not", null)
          .orderBy("createdAt", "desc")
          .limit(1)
          .executeTakeFirst();
        if (row) last.push(toRecord(row));
      }
      return last;
    },
    async listSkips(syncId) {
      const rows = await sql.read
        .selectFrom("sync_skips")
        .select(["externalId", "reason", "message", "retryable"])
        .where("workspaceId", "=", workspaceId)
        .where("syncId", "=", syncId)
        .orderBy("externalId")
        .execute();
      return rows.map((row) => ({ ...row, retryable: row.retryable === 1 }));
    },
    async trim(connectorId, keep) {
      const oldest = await syncs()
        .where("connectorId", "=", connectorId)
        .where("finishedAt", "is not", null)
        .orderBy("createdAt", "desc")
        .offset(keep)
        .limit(1)
        .executeTakeFirst();
      if (!oldest) return;
      await sql.write
        .deleteFrom("syncs")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where("finishedAt", "is not", null)
        .where("createdAt", "<=", oldest.createdAt)
        .execute();
    },
  };
}

function toRow(patch: SyncPatch): Updateable<SyncsTable> {
  const { counts, progress, items, problem, ...plain } = patch;
  return {
    ...plain,
    ...(counts && { counts: JSON.stringify(counts) }),
    ...(progress && { progress: JSON.stringify(progress) }),
    ...(items !== undefined && { items: items === null ? null : JSON.stringify(items) }),
    ...(problem !== undefined && { problem: problem === null ? null : JSON.stringify(problem) }),
  };
}

/** JSON and closed sets are written by `toRow` and the writer's `saveRun` only, from the types named here. */
function toRecord(row: Selectable<SyncsTable>): SyncRecord {
  const { workspaceId: _workspaceId, ...plain } = row;
  return {
    ...plain,
    mode: row.mode as SyncMode,
    trigger: row.trigger as SyncTrigger,
    state: row.state as SyncState,
    counts: { ...NO_COUNTS, ...(JSON.parse(row.counts) as Partial<SyncCounts>) },
    progress: JSON.parse(row.progress) as SyncProgress,
    items: row.items === null ? null : (JSON.parse(row.items) as string[]),
    problem: row.problem === null ? null : (JSON.parse(row.problem) as SourceProblem),
  };
}
