import type { Compilable, CompiledQuery, Kysely } from "kysely";
import type { Tables } from "./schema.ts";
import type { SqlValue } from "./sqlite.ts";

/**
 * Builds and compiles a query once that every request runs, because that takes Kysely longer than it takes SQLite to
 * answer.
 *
 * @param build gets a placeholder for each argument, to be bound unchanged: it can't read the values
 */
export function compiledQuery<Args extends readonly SqlValue[], Row>(
  build: (read: Kysely<Tables>, ...args: Args) => Compilable<Row>,
): (read: Kysely<Tables>, ...args: Args) => Promise<Row[]> {
  let known: { query: CompiledQuery<Row>; standIns: readonly unknown[] } | undefined;
  return async (read, ...args) => {
    known ??= compile(read, build, args.length);
    const { query, standIns } = known;
    const parameters = query.parameters.map((value) => {
      const place = standIns.indexOf(value);
      return place < 0 ? value : args[place];
    });
    const asked: CompiledQuery<Row> = { ...query, parameters };
    return (await read.executeQuery(asked)).rows;
  };
}

function compile<Args extends readonly SqlValue[], Row>(
  read: Kysely<Tables>,
  build: (read: Kysely<Tables>, ...args: Args) => Compilable<Row>,
  count: number,
) {
  const standIns = Array.from({ length: count }, () => ({}));
  // `build` never reads these stand-ins; they are only found again among the parameters.
  return { query: build(read, ...(standIns as unknown as Args)).compile(), standIns };
}
