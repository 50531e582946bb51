import { isApiError } from "#api/errors.ts";
import { explainFailure } from "#storage/failure.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";

/** SQLite's result for a part of the file. A part without problems is sound. */
export interface IntegrityPart {
  /** The name of a table, which is checked with its indexes, or the whole file. */
  part: string;
  problems: string[];
}

/** SQLite's result for a sound part. */
const SOUND = "ok";

/**
 * Checks the file for damage, one table at a time, so that the caller can stop in between. `isFull` also compares every
 * index with its table and looks for pages that two tables claim, in one statement over the whole file.
 *
 * @throws SQLite's error when it can't read any further
 */
export function* checkIntegrity(connection: SqliteConnection, isFull: boolean): Generator<IntegrityPart> {
  const { rows } = connection.execute("select name from sqlite_schema where type = 'table' order by name", []);
  for (const name of rows.map((row) => String(row["name"]))) {
    yield { part: name, problems: ask(connection, `PRAGMA quick_check("${name}")`) };
  }
  if (isFull) yield { part: "the whole file", problems: ask(connection, "PRAGMA integrity_check") };
}

function ask(connection: SqliteConnection, pragma: string): string[] {
  try {
    const found = connection.raw.prepare(pragma).all();
    return found.map((row) => String(Object.values(row)[0])).filter((text) => text !== SOUND);
  } catch (error) {
    // Some damage ends the check of a table. The other tables are still checked.
    const explained = explainFailure(error);
    if (isApiError(explained, "database_damaged")) return [error instanceof Error ? error.message : String(error)];
    throw error;
  }
}
