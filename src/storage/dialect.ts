import {
  type CompiledQuery,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
} from "kysely";
import { defined } from "#core/defined.ts";
import { explaining } from "./failure.ts";
import type { WriterClient, Priority } from "./handles.ts";
import type { SqliteConnection, SqlResult } from "./sqlite.ts";

/** A Kysely dialect over the writer. Each statement, and each whole transaction, is queued there. */
export function makeWriterDialect(writer: WriterClient, priority: Priority = "interactive"): Dialect {
  let nextTransaction = 1;

  class WriterConnection implements DatabaseConnection {
    transaction: number | undefined;

    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const result = await writer.request(
        {
          type: "execute",
          sql: query.sql,
          parameters: query.parameters,
          ...defined({ transaction: this.transaction }),
        },
        priority,
      );
      // The writer answers `execute` with a SqlResult.
      return toQueryResult<R>(result as SqlResult);
    }

    // eslint-disable-next-line require-yield -- Kysely's interface; we stream nothing from the writer
    async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
      throw new Error("The writer does not stream.");
    }
  }

  // Kysely passes back the connections that it got from here.
  const own = (connection: DatabaseConnection) => connection as WriterConnection;
  const end = async (connection: DatabaseConnection, type: "commit" | "rollback") => {
    const { transaction } = own(connection);
    own(connection).transaction = undefined;
    if (transaction !== undefined) await writer.request({ type, transaction }, priority);
  };

  return makeDialect({
    init: async () => {},
    acquireConnection: async () => new WriterConnection(),
    beginTransaction: async (connection) => {
      const transaction = nextTransaction++;
      await writer.request({ type: "begin", transaction }, priority);
      own(connection).transaction = transaction;
    },
    commitTransaction: (connection) => end(connection, "commit"),
    rollbackTransaction: (connection) => end(connection, "rollback"),
    releaseConnection: async () => {},
    destroy: async () => {},
  });
}

/**
 * A Kysely dialect over connections of this thread. A transaction has its own connection. Up to `max` connections are
 * opened; then callers wait. `noteFailure` is called with failures. `open` may return the same connection only if `max`
 * is 1.
 */
export function makeLocalDialect(
  open: () => SqliteConnection,
  max: number,
  noteFailure: (error: unknown) => void = () => undefined,
): Dialect {
  class LocalConnection implements DatabaseConnection {
    readonly sqlite: SqliteConnection;
    constructor(sqlite: SqliteConnection) {
      this.sqlite = sqlite;
    }
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      return toQueryResult<R>(explaining(() => this.sqlite.execute(query.sql, query.parameters), noteFailure));
    }
    async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
      yield await this.executeQuery<R>(query);
    }
  }

  const idle: LocalConnection[] = [];
  const all: LocalConnection[] = [];
  const waiting: ((connection: LocalConnection) => void)[] = [];
  const own = (connection: DatabaseConnection) => connection as LocalConnection;
  const run = async (connection: DatabaseConnection, sql: string) => {
    own(connection).sqlite.raw.exec(sql);
  };

  return makeDialect({
    init: async () => {},
    acquireConnection: async () => {
      const free = idle.pop();
      if (free) return free;
      if (all.length < max) {
        const fresh = new LocalConnection(explaining(open, noteFailure));
        all.push(fresh);
        return fresh;
      }
      return new Promise<DatabaseConnection>((resolve) => waiting.push(resolve));
    },
    beginTransaction: (connection) => run(connection, "BEGIN"),
    commitTransaction: (connection) => run(connection, "COMMIT"),
    rollbackTransaction: (connection) => run(connection, "ROLLBACK"),
    releaseConnection: async (connection) => {
      const next = waiting.shift();
      if (next) next(own(connection));
      else idle.push(own(connection));
    },
    destroy: async () => {
      for (const connection of all) connection.sqlite.close();
    },
  });
}

function makeDialect(driver: Driver): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

function toQueryResult<R>(result: SqlResult): QueryResult<R> {
  // Kysely types rows by the compiled query, which the driver can't see.
  return { rows: result.rows as R[], numAffectedRows: BigInt(result.changes) };
}
