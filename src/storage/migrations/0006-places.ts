import type { Kysely } from "kysely";

/** Positions in a document: lines of texts that have their file's lines, and how an address names a line. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("item_texts").addColumn("line", "bigint").execute();
  await db.schema.alterTable("items").addColumn("lineAnchor", "text").execute();
}
