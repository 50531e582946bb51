import { joinRecords, type ReadRecord } from "#storage/read-rows.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";
import { appendRows } from "./append-audit.ts";

export interface JoinReadsArgs {
  workspaceId: string;
}

/** Reads that are joined at once: some 10 ms of the writer. */
export const JOINED_AT_ONCE = 500;

/**
 * The procedure `joinReads`: joins the oldest reads that wait into rows at the end of the chain, in one transaction. Gives how
 * many it took; fewer than `JOINED_AT_ONCE` = none waits any more.
 */
export function makeJoinReads(connection: SqliteConnection) {
  return ({ workspaceId }: JoinReadsArgs): number =>
    inTransaction(connection.raw, () => {
      const { rows } = connection.execute(
        "select number, record from waiting_reads where workspaceId = ? order by number limit ?",
        [workspaceId, JOINED_AT_ONCE],
      );
      // Written by `appendAudit` only.
      const records = rows.map((row) => JSON.parse(String(row["record"])) as ReadRecord);
      appendRows(connection, workspaceId, joinRecords(records));
      connection.execute("delete from waiting_reads where workspaceId = ? and number <= ?", [
        workspaceId,
        Number(rows.at(-1)?.["number"] ?? 0),
      ]);
      return rows.length;
    });
}
