import { ApiError } from "#api/errors.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { makePushUploadStore, type PushCounts } from "#storage/records/push-uploads.ts";
import { type BatchUpload, type OpOutcome, pushResultOf } from "#storage/item-batch.ts";

/**
 * Returns the open set of a connector, or null. Anything pushed while the set is open, as part of it or not, is newer
 * than its beginning, so it is treated as part of the set.
 */
export function openSetOf(connection: SqliteConnection, workspaceId: string, connectorId: string): string | null {
  // The condition is worded like that of the partial index, so that SQLite uses the index.
  const [row] = connection.execute(
    `select "uploadId" from push_uploads where "workspaceId" = ? and "connectorId" = ?
     and "mode" = 'set' and "state" in ('open', 'ending')`,
    [workspaceId, connectorId],
  ).rows;
  return row === undefined ? null : String(row["uploadId"]);
}

/**
 * Adds a batch to its upload, in the batch's transaction.
 *
 * @throws ApiError `push_upload_over` when the upload accepts nothing more; the batch isn't stored
 */
export async function saveUpload(
  sql: SqlHandles,
  workspaceId: string,
  upload: BatchUpload,
  outcomes: readonly OpOutcome[],
  now: number,
): Promise<void> {
  const store = makePushUploadStore(sql, workspaceId);
  if (upload.phase === "ending") {
    if ((await store.find(upload.uploadId, now))?.state !== "ending") throw over();
    return;
  }
  const counts: Partial<PushCounts> = {};
  for (const line of upload.results) {
    const outcome = "op" in line ? outcomes[line.op] : undefined;
    const result = "result" in line ? line.result : outcome && pushResultOf(outcome);
    if (result !== undefined) counts[result] = (counts[result] ?? 0) + 1;
  }
  const { lines, failures, unnamed } = upload;
  if (!(await store.acknowledge(upload.uploadId, { lines, counts, failures, unnamed }, now))) throw over();
}

function over(): ApiError {
  return new ApiError("push_upload_over", {
    message: "The upload is closed: it ended, a later upload replaced it, or it waited too long.",
  });
}
