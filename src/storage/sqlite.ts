import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from "@photostructure/sqlite";
import { LRUCache } from "lru-cache";
import { atMost } from "#core/cache-options.ts";

/** A value that SQLite stores without conversion. By convention, booleans are 0/1 and times are epoch milliseconds. */
export type SqlValue = string | number | bigint | null | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

/** The result of a statement: the rows if it reads, the number of changed rows if it writes. */
export interface SqlResult {
  rows: SqlRow[];
  changes: number;
}

export type Durability = "normal" | "full";

/** Prepared statements that are kept per connection. The least recently used one is evicted first. */
const STATEMENT_CACHE_SIZE = 400;

/**
 * One SQLite connection with its prepared statements.
 * The driver is synchronous and blocks the caller, so writing connections are used only in the writer thread.
 */
export interface SqliteConnection {
  readonly raw: DatabaseSyncInstance;
  execute(sql: string, parameters: readonly unknown[]): SqlResult;
  /** Returns a cached prepared statement, for hot paths that bind by hand. */
  prepare(sql: string): StatementSyncInstance;
  /**
   * Closes the connection. Its files stay open until the last of its statements is garbage-collected, because the
   * driver has no way to finalize one.
   */
  close(): void;
}

/**
 * Opens the writing connection with WAL, foreign keys, and the requested durability. `normal` survives kill -9 of the
 * process, `full` also a power cut.
 */
export function openWriter(file: string, durability: Durability): SqliteConnection {
  const raw = new DatabaseSync(file, { timeout: 5_000 });
  raw.exec("PRAGMA page_size=8192");
  raw.exec("PRAGMA journal_mode=WAL");
  raw.exec(`PRAGMA synchronous=${durability === "full" ? "FULL" : "NORMAL"}`);
  // A checkpoint writes each page once, however often it changed since the last one, so it runs every 32 MB instead of
  // every 8.
  raw.exec("PRAGMA wal_autocheckpoint=4096");
  raw.exec("PRAGMA journal_size_limit=67108864");
  raw.exec("PRAGMA foreign_keys=ON");
  raw.exec("PRAGMA secure_delete=FAST");
  raw.exec("PRAGMA cache_size=-65536");
  raw.exec("PRAGMA temp_store=MEMORY");
  return wrapConnection(raw);
}

/**
 * Opens a reading connection. Any attempt to write through it fails. It caches 2 MB of pages and maps none. Source:
 * docs/decisions/0041.
 */
export function openReader(file: string): SqliteConnection {
  const raw = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  raw.exec("PRAGMA query_only=ON");
  return wrapConnection(raw);
}

function wrapConnection(raw: DatabaseSyncInstance): SqliteConnection {
  const statements = new LRUCache<string, { statement: StatementSyncInstance; isReader: boolean }>(
    atMost(STATEMENT_CACHE_SIZE),
  );

  function cached(sql: string) {
    let entry = statements.get(sql);
    if (entry === undefined) {
      const statement = raw.prepare(sql);
      entry = { statement, isReader: statement.columns().length > 0 };
      statements.set(sql, entry);
    }
    return entry;
  }

  return {
    raw,
    prepare: (sql) => cached(sql).statement,
    execute(sql, parameters) {
      const { statement, isReader } = cached(sql);
      const values = parameters.map(toSqlValue);
      if (isReader) {
        // Rows have the names of the selected columns, and the driver returns only values of these types.
        const rows = readNumbers(statement, () => statement.all(...values)) as SqlRow[];
        return { rows, changes: 0 };
      }
      return { rows: [], changes: Number(statement.run(...values).changes) };
    },
    close() {
      statements.clear();
      raw.close();
    },
  };
}

/**
 * Runs `read` on a statement and returns every integer as a number. The driver rejects all rows if a number can't hold
 * one of their integers exactly; that integer is then read as the nearest number.
 */
export function readNumbers<Read>(statement: StatementSyncInstance, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith("Value is too large"))) throw error;
    statement.setReadBigInts(true);
    try {
      return withoutBigInts(read()) as Read; // the same rows, with numbers
    } finally {
      statement.setReadBigInts(false);
    }
  }
}

function withoutBigInts(read: unknown): unknown {
  if (typeof read === "bigint") return Number(read);
  if (Array.isArray(read)) return read.map(withoutBigInts);
  if (typeof read !== "object" || read === null || read instanceof Uint8Array) return read;
  return Object.fromEntries(Object.entries(read).map(([name, value]) => [name, withoutBigInts(value)]));
}

function toSqlValue(value: unknown): SqlValue {
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "string" || typeof value === "number" || typeof value === "bigint") return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`A ${typeof value} can't be bound to a statement. Encode it first.`);
}
