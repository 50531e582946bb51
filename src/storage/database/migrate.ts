import { createHash } from "node:crypto";
import { Kysely, type Migration, Migrator } from "kysely";
import { ApiError } from "#api/errors.ts";
import { createBase } from "./base.ts";
import { makeLocalDialect } from "#storage/dialect.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";

/**
 * Changes that bring the database of an earlier program to the tables as they are described now, in order. A new
 * database is created from the descriptions. A released name never changes; the first is `0002-`. Source:
 * docs/decisions/0084.
 */
const MIGRATIONS: Readonly<Record<string, Migration>> = {};

/** The name that is recorded for a new database in place of all earlier migrations. */
const BASE = "0001-base";

/**
 * SHA-256 of the names of the migrations that the base replaced, the first of these names, and a commit that contains
 * all of them.
 */
const REPLACED = "5bfd355c5971e2cc4d6f04a22aa87d7afdee2dad4757fe5a7d9fd21d95796e53";
const REPLACED_FIRST = "0001-initial";
const REPLACED_COMMIT = "dc0a8ef0";

/**
 * Brings the database to this program's tables, in one transaction. If two programs start at once, the second one
 * waits. A program that is killed leaves the database as it was.
 *
 * @throws ApiError `schema_too_new` when the database was written by a newer program, `schema_too_old` by one from
 * before
 * the base
 */
export async function migrate(connection: SqliteConnection, migrations = MIGRATIONS): Promise<void> {
  if (isCurrent(readRan(connection), migrations)) return;
  await inTransaction(connection.raw, () => bringUp(connection, migrations));
}

/**
 * Checks the schema without changing it, because another process uses the database. @throws ApiError
 * `data_folder_in_use` when it differs
 */
export async function requireCurrent(connection: SqliteConnection): Promise<void> {
  if (isCurrent(readRan(connection), MIGRATIONS)) return;
  throw new ApiError("data_folder_in_use", {
    message:
      "The server that uses this data folder runs another version. Use that version's kb, or stop the server first.",
  });
}

async function bringUp(connection: SqliteConnection, migrations: Readonly<Record<string, Migration>>): Promise<void> {
  const ran = readRan(connection);
  const isNew = ran.length === 0 && !hasTable(connection, "name not like 'kysely%' and name not like 'sqlite%'");
  if (createHash("sha256").update(ran.join("\n")).digest("hex") === REPLACED) putBase(connection);
  else if (!isNew) refuseOthers(ran, migrations);
  const db = new Kysely<unknown>({ dialect: makeLocalDialect(() => connection, 1) });
  const known = Object.entries(migrations).map(([name, migration]) => [name, isNew ? NOTHING : migration] as const);
  const all = { [BASE]: { up: createBase }, ...Object.fromEntries(known) };
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => all } }).migrateToLatest();
  if (error) throw error;
}

const NOTHING: Migration = { up: async () => {} };

/** Records the base in place of the migrations that it replaced. */
function putBase(connection: SqliteConnection): void {
  connection.execute("delete from kysely_migration", []);
  connection.execute("insert into kysely_migration (name, timestamp) values (?, ?)", [BASE, new Date().toISOString()]);
}

/**
 * Returns the names of this database's migrations from Kysely's own table, in order; empty before the first migration.
 */
function readRan(connection: SqliteConnection): string[] {
  if (!hasTable(connection, "name = 'kysely_migration'")) return [];
  const { rows } = connection.execute("select name from kysely_migration order by name", []);
  return rows.map(({ name }) => String(name));
}

function hasTable(connection: SqliteConnection, where: string): boolean {
  return (
    connection.execute(`select 1 from sqlite_master where type = 'table' and ${where} limit 1`, []).rows.length > 0
  );
}

function isCurrent(ran: readonly string[], migrations: Readonly<Record<string, Migration>>): boolean {
  return ran.join() === [BASE, ...Object.keys(migrations)].join();
}

function refuseOthers(ran: readonly string[], migrations: Readonly<Record<string, Migration>>): void {
  if (ran.length === 0 || ran.includes(REPLACED_FIRST)) {
    throw new ApiError("schema_too_old", {
      message: `The database was written by an earlier kb (its last migration is ${ran.at(-1) ?? "none"}). Start the kb of commit ${REPLACED_COMMIT} on this data folder once, which brings it up to date. Then start this one.`,
    });
  }
  const unknown = ran.filter((name) => name !== BASE && !(name in migrations));
  if (unknown.length === 0) return;
  throw new ApiError("schema_too_new", {
    message: `The database was written by a newer kb (it has "${unknown.join('", "')}"). Start that version, or restore a backup from before the upgrade.`,
  });
}
