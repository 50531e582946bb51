import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite";

export type Database = DatabaseSyncInstance;
export type Statement = StatementSyncInstance;

/** Prepares each statement once per connection. */
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

/** Returns the single number of a query's first row; 0 when there is none or it is NULL. */
export function numberOf(statement: Statement, ...parameters: (string | number)[]): number {
  const row: unknown = statement.get(...parameters);
  if (typeof row !== "object" || row === null) return 0;
  return Number(Object.values(row)[0] ?? 0);
}
