import { sql, type Kysely } from "kysely";

/** Gives lists their shape from before principals had numbers: every principal of a list by name. */
export async function nameInLists(db: Kysely<unknown>): Promise<void> {
  await sql`alter table access_list_principals rename to numbered`.execute(db);
  await sql`create table access_list_principals (
    workspaceId text not null references workspaces (workspaceId) on delete cascade,
    principal text not null,
    listId bigint not null,
    primary key (workspaceId, principal, listId),
    foreign key (workspaceId, listId) references access_lists (workspaceId, listId)) without rowid`.execute(db);
  await sql`insert into access_list_principals (workspaceId, principal, listId)
    select workspaceId, principal, listId from numbered join access_principals using (principalNo)
    order by 1, 2, 3`.execute(db);
  for (const table of ["numbered", "access_principals", "access_numbers"]) await db.schema.dropTable(table).execute();
}
