import { sql, type Kysely } from "kysely";

/**
 * Principals of lists have numbers: a row of a list's principal is two numbers, no longer two texts and one. Numbers
 * come from a counter of all workspaces that is never taken back, so that no number can ever mean another principal.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("access_principals")
    .addColumn("workspaceId", "text", (c) => c.notNull().references("workspaces.workspaceId").onDelete("cascade"))
    .addColumn("principal", "text", (c) => c.notNull())
    .addColumn("principalNo", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("access_principals_key", ["workspaceId", "principal"])
    .modifyEnd(sql`without rowid`)
    .execute();
  await sql`insert into access_principals ("workspaceId", "principal", "principalNo")
    select "workspaceId", "principal", row_number() over (order by "workspaceId", "principal")
    from (select distinct "workspaceId", "principal" from access_list_principals)`.execute(db);
  await db.schema
    .createTable("access_numbers")
    .addColumn("nextPrincipalNo", "bigint", (c) => c.notNull())
    .execute();
  await sql`insert into access_numbers ("nextPrincipalNo") select count(*) + 1 from access_principals`.execute(db);

  await db.schema.alterTable("access_list_principals").renameTo("access_list_principals_before").execute();
  await db.schema
    .createTable("access_list_principals")
    .addColumn("principalNo", "bigint", (c) => c.notNull())
    .addColumn("listId", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("access_list_principals_key", ["principalNo", "listId"])
    .modifyEnd(sql`without rowid`)
    .execute();
  // In the order of both keys.
  await sql`insert into access_list_principals ("principalNo", "listId")
    select named."principalNo", lists."listId"
    from access_list_principals_before as lists
    join access_principals as named using ("workspaceId", "principal")
    order by named."principalNo", lists."listId"`.execute(db);
  await db.schema.dropTable("access_list_principals_before").execute();
}
