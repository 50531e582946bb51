import { sql, type Kysely } from "kysely";
import { listDigest } from "#storage/access/list-digest.ts";

const PAGE = 1_000;

interface Row {
  workspaceId: string;
  listId: number;
  principals: string;
}

/**
 * Lists are found by a digest: an index of their texts was as large as all lists, and every new list wrote a page of it. The
 * principals of lists stand in one tree, no longer in a table and an index of the same.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("access_lists").renameTo("access_lists_before").execute();
  await db.schema.alterTable("access_list_principals").renameTo("access_list_principals_before").execute();
  await db.schema
    .createTable("access_lists")
    .addColumn("workspaceId", "text", (c) => c.notNull().references("workspaces.workspaceId").onDelete("cascade"))
    .addColumn("listId", "bigint", (c) => c.notNull())
    .addColumn("principals", "text", (c) => c.notNull())
    .addColumn("digest", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("access_lists_key", ["workspaceId", "listId"])
    .execute();
  await copyLists(db);
  await db.schema.createIndex("access_lists_by_digest").on("access_lists").columns(["digest"]).execute();
  const key = ["workspaceId", "principal", "listId"] as const;
  await db.schema
    .createTable("access_list_principals")
    .addColumn("workspaceId", "text", (c) => c.notNull().references("workspaces.workspaceId").onDelete("cascade"))
    .addColumn("principal", "text", (c) => c.notNull())
    .addColumn("listId", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("access_list_principals_key", [...key])
    .addForeignKeyConstraint("access_list_principals_list", ["workspaceId", "listId"], "access_lists", [
      "workspaceId",
      "listId",
    ])
    .modifyEnd(sql`without rowid`)
    .execute();
  const columns = sql.join(key.map((name) => sql.ref(name)));
  await sql`insert into access_list_principals (${columns})
    select ${columns} from access_list_principals_before order by ${columns}`.execute(db);
  await db.schema.dropTable("access_list_principals_before").execute();
  await db.schema.dropTable("access_lists_before").execute();
}

async function copyLists(db: Kysely<unknown>): Promise<void> {
  for (let [workspaceId, listId] = ["", 0]; ;) {
    const { rows } = await sql<Row>`
      select "workspaceId", "listId", "principals" from access_lists_before
      where ("workspaceId", "listId") > (${workspaceId}, ${listId})
      order by "workspaceId", "listId" limit ${PAGE}`.execute(db);
    const told = rows.map((row) => [
      row.workspaceId,
      row.listId,
      row.principals,
      listDigest(row.workspaceId, row.principals),
    ]);
    await sql`insert into access_lists ("workspaceId", "listId", "principals", "digest")
      select value ->> 0, value ->> 1, value ->> 2, value ->> 3 from json_each(${JSON.stringify(told)})`.execute(db);
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    [workspaceId, listId] = [last.workspaceId, last.listId];
  }
}
