import { type Kysely, sql } from "kysely";

const TEXT = "text";

/**
 * What synced connectors say of groups and users, each with its clock, and who of them is a member here. Memberships lose
 * their row numbers: a million of them was written three times, into the table, its key and the index by member.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createTables(db);
  await rebuildMemberships(db);
  await rememberFormerAddresses(db);
}

async function createTables(db: Kysely<unknown>): Promise<void> {
  await table(db, "source_groups", ["workspaceId", "groupPrincipal"], {
    workspaceId: "text",
    groupPrincipal: "text",
    connectorId: "text",
    toldIn: "text",
    checkedAt: "bigint",
    followsFeed: "bigint",
    members: "bigint",
    digest: "text?",
    etag: "text?",
    slice: "text?",
    toldPosition: "bigint",
    toldBy: "text",
    seenBy: "text?",
  });
  await index(db, "source_groups_by_age", "source_groups", ["workspaceId", "connectorId", "toldIn", "checkedAt"]);
  await table(db, "identities", ["workspaceId", "principal", "connectorId"], {
    workspaceId: "text",
    principal: "text",
    connectorId: "text",
    toldIn: "text",
    instance: "text",
    state: "text",
    name: "text?",
    login: "text?",
    email: "text?",
    emailKey: "text?",
    isEmailVerified: "bigint",
    isTrusted: "bigint",
    aliasOf: "text?",
    toldAt: "bigint",
    followsFeed: "bigint",
    seenBy: "text?",
  });
  await index(db, "identities_by_age", "identities", ["workspaceId", "connectorId", "toldIn", "toldAt"]);
  await index(db, "identities_by_email", "identities", ["workspaceId", "emailKey"]);
  await table(db, "identity_aliases", ["workspaceId", "principal", "alias", "connectorId"], {
    workspaceId: "text",
    principal: "text",
    alias: "text",
    connectorId: "text",
  });
  await index(db, "identity_aliases_by_alias", "identity_aliases", ["workspaceId", "alias"]);
  await table(db, "identity_joins", ["workspaceId", "principal", "userId"], {
    workspaceId: "text",
    principal: "text",
    userId: "text",
    connectorId: "text",
    basis: "text",
    joinedBy: "text?",
    joinedAt: "bigint",
    endedAt: "bigint?",
    endedBy: "text?",
    endReason: "text?",
    hasLeft: "bigint",
  });
  await index(db, "identity_joins_by_user", "identity_joins", ["workspaceId", "userId"]);
  await table(db, "former_addresses", ["workspaceId", "emailKey", "userId"], {
    workspaceId: "text",
    emailKey: "text",
    userId: "text",
    hasLeft: "bigint",
  });
  await table(db, "people_feeds", ["workspaceId", "connectorId", "toldIn"], {
    workspaceId: "text",
    connectorId: "text",
    toldIn: "text",
    position: "bigint",
    cursor: "text?",
    currentAt: "bigint?",
    runId: "text?",
    runCursor: "text?",
    wholeAt: "bigint?",
  });
}

async function rebuildMemberships(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropIndex("memberships_by_member").execute();
  await db.schema.alterTable("memberships").renameTo("memberships_before").execute();
  const key = ["workspaceId", "groupPrincipal", "memberPrincipal", "reportedBy"];
  await table(db, "memberships", key, Object.fromEntries(key.map((name) => [name, TEXT] as const)));
  await sql`
    insert into memberships ("workspaceId", "groupPrincipal", "memberPrincipal", "reportedBy")
    select "workspaceId", "groupPrincipal", "memberPrincipal", "reportedBy" from memberships_before
    order by "workspaceId", "groupPrincipal", "memberPrincipal", "reportedBy"
  `.execute(db);
  await db.schema.dropTable("memberships_before").execute();
  // The groups of a member come from the index alone; see 0009.
  await index(db, "memberships_by_member", "memberships", [
    "workspaceId",
    "memberPrincipal",
    "groupPrincipal",
    "reportedBy",
  ]);
}

/** The audit says who left; their accounts say which address they have. */
async function rememberFormerAddresses(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert or ignore into former_addresses ("workspaceId", "emailKey", "userId", "hasLeft")
    select a."workspaceId", u."emailKey", u."userId", 1
    from audit a join users u on u."userId" = a."targetId"
    where a."action" in ('member.removed', 'member.left')
  `.execute(db);
}

async function table(
  db: Kysely<unknown>,
  name: string,
  key: readonly string[],
  columns: Record<string, "text" | "text?" | "bigint" | "bigint?">,
): Promise<void> {
  let builder = db.schema.createTable(name);
  for (const [column, type] of Object.entries(columns)) {
    const isNullable = type.endsWith("?");
    const base = type.startsWith("text") ? "text" : "bigint";
    builder = builder.addColumn(column, base, (c) => (isNullable ? c : c.notNull()));
  }
  await builder
    .addPrimaryKeyConstraint(`${name}_key`, [...key] as never[])
    .modifyEnd(sql`without rowid`)
    .execute();
}

async function index(db: Kysely<unknown>, name: string, on: string, columns: string[]): Promise<void> {
  await db.schema.createIndex(name).on(on).columns(columns).execute();
}
