import { ApiError, isApiError } from "#api/errors.ts";
import { Kysely } from "kysely";
import { makeLocalDialect } from "#storage/dialect.ts";
import { explainFailure } from "#storage/failure.ts";
import { requireCurrent } from "#storage/database/migrate.ts";
import { type AuditStore, makeAuditStore } from "#storage/records/audit.ts";
import type { Tables } from "#storage/schema.ts";
import { openReader, type SqliteConnection } from "#storage/sqlite.ts";

/** A database that was opened for a check. Nothing can be written through it, and a server may run at the same time. */
export type CheckedDatabase = Awaited<ReturnType<typeof openForCheck>>;

/**
 * Opens the database for a check.
 *
 * @throws ApiError `database_damaged`, `database_unusable`; `data_folder_in_use` when another version wrote it
 */
export async function openForCheck(file: string) {
  let connection: SqliteConnection | undefined;
  try {
    connection = openReader(file);
    await requireCurrent(connection);
  } catch (error) {
    connection?.close();
    if (!isApiError(error, "data_folder_in_use")) throw explainFailure(error);
    throw new ApiError("data_folder_in_use", {
      message:
        "Another version of kb wrote this database. Use that version's kb, or start the server with this version first.",
    });
  }
  const opened = connection;
  const read = new Kysely<Tables>({ dialect: makeLocalDialect(() => openReader(file), 1) });
  return {
    connection,
    /** Returns the ids of the workspaces. */
    workspaces: (): string[] =>
      opened
        .execute('select "workspaceId" from workspaces order by 1', [])
        .rows.map((row) => String(row["workspaceId"])),
    auditOf: (workspaceId: string): Pick<AuditStore, "readChain"> =>
      makeAuditStore({ read, write: read, writer: undefined }, workspaceId),
    async close(): Promise<void> {
      await read.destroy();
      opened.close();
    },
  };
}
