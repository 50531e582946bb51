import { Kysely } from "kysely";
import { tableStatements } from "#storage/database/base.ts";
import { makeLocalDialect } from "#storage/dialect.ts";
import { INDEX_TABLES } from "#storage/index/schema.ts";

const unconnected = new Kysely<unknown>({
  dialect: makeLocalDialect(() => {
    throw new Error("Statements are only written here.");
  }, 1),
});

/** The statements that create the tables of the index. */
export const INDEX_DDL = tableStatements(unconnected, "sqlite", INDEX_TABLES).map(
  (statement) => statement.compile().sql,
);
