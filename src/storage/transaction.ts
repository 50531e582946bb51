import type { DatabaseSyncInstance } from "@photostructure/sqlite";

/**
 * Runs `work` in one immediate transaction of the connection and returns its result; rolls back when it throws. The
 * work is synchronous and is committed on return, so nothing runs in between.
 */
export function inTransaction<T>(raw: DatabaseSyncInstance, work: () => Promise<T>): Promise<T>;
export function inTransaction<T>(raw: DatabaseSyncInstance, work: () => T): T;
export function inTransaction<T>(raw: DatabaseSyncInstance, work: () => T | Promise<T>): T | Promise<T> {
  const commit = (result: T): T => {
    raw.exec("COMMIT");
    return result;
  };
  const rollBack = (error: unknown): never => {
    if (raw.isTransaction) raw.exec("ROLLBACK");
    throw error;
  };
  raw.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    return result instanceof Promise ? result.then(commit).catch(rollBack) : commit(result);
  } catch (error) {
    return rollBack(error);
  }
}
