import type { Kysely } from "kysely";

/** Accounts of people at other services, and the ways there and back. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("provider_accounts")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("accountId", "text", (c) => c.notNull())
    .addColumn("userId", "text", (c) => c.notNull())
    .addColumn("providerId", "text", (c) => c.notNull())
    .addColumn("baseUrl", "text", (c) => c.notNull())
    .addColumn("principal", "text", (c) => c.notNull())
    .addColumn("label", "text", (c) => c.notNull())
    .addColumn("login", "text")
    .addColumn("scopes", "text", (c) => c.notNull())
    .addColumn("way", "text", (c) => c.notNull())
    .addColumn("sealed", "text", (c) => c.notNull())
    .addColumn("version", "bigint", (c) => c.notNull())
    .addColumn("expiresAt", "bigint")
    .addColumn("lockedBy", "text")
    .addColumn("lockedUntil", "bigint")
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("stateReason", "text")
    .addColumn("confirmedAt", "bigint", (c) => c.notNull())
    .addColumn("dueAt", "bigint")
    .addColumn("tries", "bigint", (c) => c.notNull())
    .addColumn("createdAt", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("provider_accounts_key", ["workspaceId", "accountId"])
    .execute();
  // A user of a source is one person in a workspace.
  await db.schema
    .createIndex("provider_accounts_by_principal")
    .unique()
    .on("provider_accounts")
    .columns(["workspaceId", "principal"])
    .where("state" as never, "!=", "ended")
    .execute();
  await db.schema
    .createIndex("provider_accounts_by_user")
    .on("provider_accounts")
    .columns(["workspaceId", "userId"])
    .execute();
  await db.schema.createIndex("provider_accounts_due").on("provider_accounts").column("dueAt").execute();
  await db.schema
    .createTable("account_flows")
    .addColumn("flowHash", "text", (c) => c.primaryKey())
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("userId", "text", (c) => c.notNull())
    .addColumn("sessionId", "text", (c) => c.notNull())
    .addColumn("providerId", "text", (c) => c.notNull())
    .addColumn("stage", "text", (c) => c.notNull())
    .addColumn("sealed", "text", (c) => c.notNull())
    .addColumn("returnTo", "text", (c) => c.notNull())
    .addColumn("createdAt", "bigint", (c) => c.notNull())
    .addColumn("expiresAt", "bigint", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("account_flows_due").on("account_flows").column("expiresAt").execute();
}
