import { type AppendAuditArgs, type ChainEnd, type NewAuditRecord, nextRow, NO_CHAIN } from "#storage/audit-chain.ts";
import { READ_ACTION } from "#storage/read-rows.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";

const COLUMNS = [
  "workspaceId",
  "seq",
  "at",
  "actorUserId",
  "credential",
  "action",
  "targetType",
  "targetId",
  "outcome",
  "ip",
  "requestId",
  "details",
  "previousHash",
  "hash",
] as const;

/**
 * The procedure `appendAudit`, which appends rows to a workspace's chain in one transaction; 200 rows take some 5 ms.
 * Read records aren't appended yet: they wait to be merged first.
 */
export function makeAppendAudit(connection: SqliteConnection) {
  return ({ workspaceId, records }: AppendAuditArgs): void =>
    inTransaction(connection.raw, () => {
      const isRead = ({ action }: NewAuditRecord) => action === READ_ACTION;
      keepReads(connection, workspaceId, records.filter(isRead));
      appendRows(
        connection,
        workspaceId,
        records.filter((record) => !isRead(record)),
      );
    });
}

/** Appends rows to the chain of a workspace. Call it in a transaction. */
export function appendRows(
  connection: SqliteConnection,
  workspaceId: string,
  records: readonly NewAuditRecord[],
): void {
  const insert = `insert into audit (${COLUMNS.join(", ")}) values (${COLUMNS.map(() => "?").join(", ")})`;
  let end = endOf(connection, workspaceId);
  for (const record of records) {
    const row = nextRow(workspaceId, end, record);
    connection.execute(
      insert,
      COLUMNS.map((column) => row[column]),
    );
    end = { seq: row.seq, hash: row.hash };
  }
}

/** Stores read records that wait to be merged. Call it in a transaction. */
function keepReads(connection: SqliteConnection, workspaceId: string, records: readonly NewAuditRecord[]): void {
  if (records.length === 0) return;
  const { rows } = connection.execute("select max(number) as last from waiting_reads where workspaceId = ?", [
    workspaceId,
  ]);
  let number = Number(rows[0]?.["last"] ?? 0);
  for (const record of records) {
    connection.execute("insert into waiting_reads (workspaceId, number, record) values (?, ?, ?)", [
      workspaceId,
      (number += 1),
      JSON.stringify(record),
    ]);
  }
}

function endOf(connection: SqliteConnection, workspaceId: string): ChainEnd {
  const { rows } = connection.execute("select seq, hash from audit where workspaceId = ? order by seq desc limit 1", [
    workspaceId,
  ]);
  const [last] = rows;
  if (last === undefined) return NO_CHAIN;
  return { seq: Number(last["seq"]), hash: typeof last["hash"] === "string" ? last["hash"] : null };
}
