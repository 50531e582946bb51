import { JOINED_AT_ONCE, type JoinReadsArgs, joinRecords, type ReadRecord } from "#storage/read-rows.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";
import { appendRows } from "./append-audit.ts";

/**
 * The procedure `joinReads`, which merges the oldest waiting read records into rows at the end of the chain, in one
 * transaction. Returns how many it processed; fewer than `JOINED_AT_ONCE` = none is left.
 */
export function makeJoinReads(connection: SqliteConnection) {
  return ({ workspaceId }: JoinReadsArgs): number =>
    inTransaction(connection.raw, () => {
      const { rows } = connection.execute(
        "select number, record from waiting_reads where workspaceId = ? order by number limit ?",
        [workspaceId, JOINED_AT_ONCE],
      );
      // Only `appendAudit` writes these records.
      const records = rows.map((row) => JSON.parse(String(row["record"])) as ReadRecord);
      appendRows(connection, workspaceId, joinRecords(records));
      connection.execute("delete from waiting_reads where workspaceId = ? and number <= ?", [
        workspaceId,
        Number(rows.at(-1)?.["number"] ?? 0),
      ]);
      return rows.length;
    });
}
