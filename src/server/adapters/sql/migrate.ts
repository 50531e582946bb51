import { Kysely, Migrator, type Migration } from "kysely";
import { ApiError } from "#api/errors.ts";
import { makeLocalDialect } from "./dialect.ts";
import * as initial from "./migrations/0001-initial.ts";
import type { SqliteConnection } from "./sqlite.ts";

/** In order; a name is never changed once it was released. */
const MIGRATIONS: Record<string, Migration> = {
  "0001-initial": initial,
};

/**
 * Brings the database to this program's schema; `extraDdl` holds the statements of adapters with tables of their own.
 * Runs under the migration lock of the database, so two programs that start at once do it one after the other.
 *
 * @throws ApiError `schema_too_new` when the database was written by a newer program
 */
export async function migrate(connection: SqliteConnection, extraDdl: readonly string[]): Promise<void> {
  const db = new Kysely<unknown>({ dialect: makeLocalDialect(() => connection, 1) });
  await refuseNewer(db);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
  for (const ddl of extraDdl) connection.raw.exec(ddl);
}

async function refuseNewer(db: Kysely<unknown>): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((t) => t.name === "kysely_migration")) return;
  // Kysely's own table: name and timestamp of each migration that ran.
  const ran = (await (db as Kysely<{ kysely_migration: { name: string } }>)
    .selectFrom("kysely_migration")
    .select("name")
    .execute()) satisfies { name: string }[];
  const unknown = ran.map((row) => row.name).filter((name) => !(name in MIGRATIONS));
  if (unknown.length === 0) return;
  throw new ApiError("schema_too_new", {
    message: `The database was written by a newer kb (it knows "${unknown.join('", "')}", this program does not). Start it with the newer version, or restore a backup made before the upgrade.`,
  });
}
