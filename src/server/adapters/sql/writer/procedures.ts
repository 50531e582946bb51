import type { SqliteConnection } from "../sqlite.ts";
import type { Procedure } from "./engine.ts";

/**
 * Every procedure the writer knows, by name. A procedure runs inside the writer, so it may use the raw connection;
 * it must end within about 25 ms, or work in slices that it asks for again.
 */
export function makeProcedures(_connection: SqliteConnection): ReadonlyMap<string, Procedure> {
  return new Map<string, Procedure>();
}
