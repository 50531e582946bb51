import { addCounts } from "./add-counts.ts";
import type { SyncCounts } from "#storage/records/syncs.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import type { BatchRun, ItemBatch } from "#storage/item-batch.ts";
import type { Work } from "./work.ts";

/**
 * Returns why a batch may no longer be stored: the worker lost its lease, the scope has changed, or the connector is
 * being removed. Undefined when it may be stored.
 */
export function refusalOf(
  connection: SqliteConnection,
  workspaceId: string,
  { connectorId, run }: ItemBatch,
): "lease_lost" | "scope_changed" | "connector_inactive" | undefined {
  const connector = one(
    connection,
    "select state, scopeVersion from connectors where workspaceId = ? and connectorId = ?",
    workspaceId,
    connectorId,
  );
  if (!connector || connector["state"] === "deleting") return "connector_inactive";
  if (!run) return undefined;
  const job = one(connection, "select leaseOwner from jobs where jobId = ?", run.jobId);
  if (job?.["leaseOwner"] !== run.leaseOwner) return "lease_lost";
  return connector["scopeVersion"] === run.scopeVersion ? undefined : "scope_changed";
}

/**
 * Adds the batch to the run's counts and stores progress and cursor. An attempt that gets further than earlier attempts
 * is counted like the first one.
 *
 * @returns true when someone requested the end of the run
 */
export function saveRun(
  connection: SqliteConnection,
  workspaceId: string,
  connectorId: string,
  run: BatchRun,
  { counts, marked, isFurther }: Pick<Work, "counts" | "marked" | "isFurther">,
): boolean {
  const row = one(
    connection,
    "select counts, progress, attempt, cancelRequestedAt from syncs where workspaceId = ? and syncId = ?",
    workspaceId,
    run.syncId,
  );
  if (!row) return true;
  // Only this function and the code that creates a run write this column.
  const before = JSON.parse(String(row["counts"])) as SyncCounts;
  const total = addCounts(addCounts(before, counts), run.addCounts ?? {});
  total.seen += marked;
  total.unchanged += marked;
  connection
    .prepare("update syncs set counts = ?, progress = ?, attempt = ? where workspaceId = ? and syncId = ?")
    .run(
      JSON.stringify(total),
      run.progress ? JSON.stringify(run.progress) : String(row["progress"]),
      isFurther ? 1 : Number(row["attempt"]),
      workspaceId,
      run.syncId,
    );
  if (run.cursor !== undefined) {
    connection
      .prepare("update connectors set cursor = ? where workspaceId = ? and connectorId = ?")
      .run(run.cursor, workspaceId, connectorId);
  }
  for (const [key, value] of Object.entries(run.state ?? {}))
    saveState(connection, [workspaceId, connectorId, key], value);
  if (run.aclCheckedAt !== undefined) {
    connection
      .prepare("update connectors set aclCheckedAt = ? where workspaceId = ? and connectorId = ?")
      .run(run.aclCheckedAt, workspaceId, connectorId);
  }
  // The source responds again, so items that were hidden because it refused become visible.
  if (counts.seen > 0) endRefusal(connection, workspaceId, connectorId);
  return row["cancelRequestedAt"] !== null;
}

function endRefusal(connection: SqliteConnection, workspaceId: string, connectorId: string): void {
  const { changes } = connection
    .prepare(
      "update connectors set refusedAt = null where workspaceId = ? and connectorId = ? and refusedAt is not null",
    )
    .run(workspaceId, connectorId);
  if (changes === 0) return;
  connection.prepare("update access_state set epoch = epoch + 1 where workspaceId = ?").run(workspaceId);
}

function saveState(connection: SqliteConnection, key: [string, string, string], value: string | null): void {
  if (value === null) {
    connection.prepare('delete from source_state where workspaceId = ? and connectorId = ? and "key" = ?').run(...key);
    return;
  }
  connection
    .prepare('insert or replace into source_state (workspaceId, connectorId, "key", "value") values (?, ?, ?, ?)')
    .run(...key, value);
}

function one(connection: SqliteConnection, sql: string, ...values: string[]) {
  return connection.execute(sql, values).rows[0];
}
