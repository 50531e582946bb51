import { Kysely } from "kysely";
import { makeLocalDialect } from "#storage/dialect.ts";
import { openWriter } from "#storage/sqlite.ts";

/** Runs one migration on the filled database of a test, beside the connections that the test's server holds. */
export async function runMigration(file: string, up: (db: Kysely<unknown>) => Promise<void>): Promise<void> {
  const connection = openWriter(file, "normal");
  try {
    await up(new Kysely<unknown>({ dialect: makeLocalDialect(() => connection, 1) }));
  } finally {
    connection.close();
  }
}
