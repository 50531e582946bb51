import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite";

export type Database = DatabaseSyncInstance;
export type Statement = StatementSyncInstance;

/** Returns a prepared statement. Each statement is prepared once per connection. */
export type Statements = (sql: string) => Statement;

export function makeStatements(db: Database): Statements {
  const known = new Map<string, Statement>();
  return (sql) => {
    let statement = known.get(sql);
    if (statement === undefined) known.set(sql, (statement = db.prepare(sql)));
    return statement;
  };
}

/** Runs `work` on one state of the database. */
export function inReadTransaction<T>(db: Database, work: () => T): T {
  db.exec("BEGIN");
  try {
    return work();
  } finally {
    db.exec("COMMIT");
  }
}

/** Returns the single number of a query's first row; 0 when there is no row or the number is NULL. */
export function numberOf(statement: Statement, ...parameters: Parameters): number {
  return Number(valueOf(statement, parameters) ?? 0);
}

/** Returns the single text of a query's first row; undefined when there is no row or the text is NULL. */
export function textOf(statement: Statement, ...parameters: Parameters): string | undefined {
  const value = valueOf(statement, parameters);
  return typeof value === "string" ? value : undefined;
}

/**
 * Returns the single blob of a query's first row, as an empty array when it is NULL; undefined when there is no row.
 */
export function blobOf(statement: Statement, ...parameters: Parameters): Uint8Array | undefined {
  const value = valueOf(statement, parameters);
  // The driver may return an empty blob as null.
  return value === null ? new Uint8Array(0) : value instanceof Uint8Array ? value : undefined;
}

type Parameters = (string | number)[];

function valueOf(statement: Statement, parameters: Parameters): unknown {
  const row: unknown = statement.get(...parameters);
  return typeof row === "object" && row !== null ? Object.values(row)[0] : undefined;
}
