import { sql as raw } from "kysely";
import type { SqlHandles } from "#storage/handles.ts";

/** Tables with envelopes of the vault, and the key of each; the envelope is in the column `sealed`. */
export const SEALED_TABLES = {
  connector_credentials: ["workspaceId", "connectorId"],
  connector_webhooks: ["workspaceId", "connectorId"],
  provider_accounts: ["workspaceId", "accountId"],
  account_flows: ["flowHash"],
  provider_server_secrets: ["workspaceId", "serverId"],
  connection_secrets: ["workspaceId", "connectionId"],
  sso_flows: ["stateHash"],
  oauth_records: ["model", "idHash"],
  event_targets: ["workspaceId", "targetId"],
} as const satisfies Record<string, readonly string[]>;

export type SealedTable = keyof typeof SEALED_TABLES;

/** One envelope, with the key of its row. */
export interface SealedRow {
  key: string[];
  sealed: string;
}

/** Reads and writes everything that the vault has sealed, of any kind, across workspaces. */
export function makeSealedStore(sql: SqlHandles) {
  const columns = (table: SealedTable) => raw.join(SEALED_TABLES[table].map((name) => raw.ref(name)));
  return {
    async count(): Promise<number> {
      let count = 0;
      // The names are keys of the record above.
      for (const table of Object.keys(SEALED_TABLES) as SealedTable[]) {
        const { rows } = await raw<{ n: number }>`select count(*) as n from ${raw.table(table)}`.execute(sql.read);
        count += Number(rows[0]?.n ?? 0);
      }
      return count;
    },

    /** Returns rows by key; `after` is the last one of the previous page. */
    async page(table: SealedTable, after: readonly string[] | undefined, limit: number): Promise<SealedRow[]> {
      const names = SEALED_TABLES[table];
      const beyond = after === undefined ? raw`` : raw`where (${columns(table)}) > (${raw.join([...after])})`;
      const { rows } = await raw<Record<string, string>>`
        select ${columns(table)}, sealed from ${raw.table(table)} ${beyond} order by ${columns(table)} limit ${limit}
      `.execute(sql.read);
      return rows.map((row) => ({ key: names.map((name) => row[name] ?? ""), sealed: row["sealed"] ?? "" }));
    },

    /** Replaces the envelope of the same secret, unless the secret was replaced in the meantime. */
    async reseal(table: SealedTable, { key, sealed: before }: SealedRow, after: string): Promise<void> {
      await raw`
        update ${raw.table(table)} set sealed = ${after}
        where (${columns(table)}) = (${raw.join(key)}) and sealed = ${before}
      `.execute(sql.write);
    },
  };
}
