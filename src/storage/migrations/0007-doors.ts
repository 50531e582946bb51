import { type Kysely, sql } from "kysely";

/** Links by email, single sign-on, OAuth, the chain of the audit, idempotency. Column rules: `schema.ts`. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createLinks(db);
  await createSso(db);
  await createOAuth(db);
  await createIdempotency(db);
  await extendAudit(db);
  await db.schema
    .alterTable("invitations")
    .addColumn("isMailed", "bigint", (c) => c.notNull().defaultTo(0))
    .execute();
}

async function createLinks(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("email_links")
    .addColumn("tokenHash", "text", (c) => c.primaryKey())
    .addColumn("purpose", "text", (c) => c.notNull())
    .addColumn("userId", "text", (c) => c.references("users.userId"))
    .addColumn("email", "text", (c) => c.notNull())
    .addColumn("isMailed", "bigint", (c) => c.notNull())
    .addColumn("details", "text", (c) => c.notNull())
    .addColumn("createdAt", "bigint", (c) => c.notNull())
    .addColumn("expiresAt", "bigint", (c) => c.notNull())
    .addColumn("usedAt", "bigint")
    .execute();
  await db.schema.createIndex("email_links_by_user").on("email_links").columns(["userId", "purpose"]).execute();
  await db.schema.createIndex("email_links_due").on("email_links").columns(["expiresAt"]).execute();
}

async function createSso(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("sso_identities")
    .addColumn("issuer", "text", (c) => c.notNull())
    .addColumn("subject", "text", (c) => c.notNull())
    .addColumn("userId", "text", (c) => c.notNull().references("users.userId"))
    .addColumn("label", "text", (c) => c.notNull())
    .addColumn("createdAt", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("sso_identities_key", ["issuer", "subject"])
    .execute();
  await db.schema.createIndex("sso_identities_by_user").on("sso_identities").columns(["userId"]).execute();
  await db.schema
    .createTable("sso_flows")
    .addColumn("stateHash", "text", (c) => c.primaryKey())
    .addColumn("browserHash", "text", (c) => c.notNull())
    .addColumn("sessionId", "text")
    .addColumn("sealed", "text", (c) => c.notNull())
    .addColumn("returnTo", "text", (c) => c.notNull())
    .addColumn("createdAt", "bigint", (c) => c.notNull())
    .addColumn("expiresAt", "bigint", (c) => c.notNull())
    .execute();
}

async function createOAuth(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("oauth_clients")
    .addColumn("clientId", "text", (c) => c.primaryKey())
    .addColumn("metadata", "text", (c) => c.notNull())
    .addColumn("ip", "text")
    .addColumn("createdAt", "bigint", (c) => c.notNull())
    .addColumn("lastUsedAt", "bigint")
    .execute();
  await db.schema
    .createTable("oauth_records")
    .addColumn("model", "text", (c) => c.notNull())
    .addColumn("idHash", "text", (c) => c.notNull())
    .addColumn("sealed", "text", (c) => c.notNull())
    .addColumn("grantId", "text")
    .addColumn("userCodeHash", "text")
    .addColumn("consumedAt", "bigint")
    .addColumn("expiresAt", "bigint")
    .addPrimaryKeyConstraint("oauth_records_key", ["model", "idHash"])
    .execute();
  for (const column of ["grantId", "userCodeHash", "expiresAt"]) {
    await db.schema
      .createIndex(`oauth_records_by_${column}`)
      .on("oauth_records")
      .columns([column])
      .where(sql<boolean>`${sql.ref(column)} is not null`)
      .execute();
  }
  await db.schema
    .createTable("grants")
    .addColumn("workspaceId", "text", (c) => c.notNull().references("workspaces.workspaceId").onDelete("cascade"))
    .addColumn("grantId", "text", (c) => c.notNull())
    .addColumn("userId", "text", (c) => c.notNull().references("users.userId"))
    .addColumn("clientId", "text", (c) => c.notNull())
    .addColumn("clientName", "text", (c) => c.notNull())
    .addColumn("place", "text", (c) => c.notNull())
    .addColumn("scopes", "text", (c) => c.notNull())
    .addColumn("isDevice", "bigint", (c) => c.notNull())
    .addColumn("authenticatedAt", "bigint", (c) => c.notNull())
    .addColumn("createdAt", "bigint", (c) => c.notNull())
    .addColumn("lastUsedAt", "bigint")
    .addColumn("expiresAt", "bigint", (c) => c.notNull())
    .addColumn("revokedAt", "bigint")
    .addPrimaryKeyConstraint("grants_key", ["workspaceId", "grantId"])
    .addUniqueConstraint("grants_id", ["grantId"])
    .execute();
  await db.schema.createIndex("grants_by_user").on("grants").columns(["workspaceId", "userId", "createdAt"]).execute();
  // A token made by an OAuth client dies with the grant; null = made in a session, or adopted by one. Source: S28.
  await db.schema.alterTable("api_tokens").addColumn("grantId", "text").execute();
  await db.schema.createIndex("api_tokens_by_grant").on("api_tokens").columns(["workspaceId", "grantId"]).execute();
}

async function createIdempotency(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("idempotency_records")
    .addColumn("keyHash", "text", (c) => c.primaryKey())
    .addColumn("bodyHash", "text", (c) => c.notNull())
    .addColumn("status", "bigint")
    .addColumn("answer", "text")
    .addColumn("targetId", "text")
    .addColumn("createdAt", "bigint", (c) => c.notNull())
    .addColumn("expiresAt", "bigint", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("idempotency_records_due").on("idempotency_records").columns(["expiresAt"]).execute();
}

/** Rows from before the chain keep null; the chain begins with the first row that has a hash. */
async function extendAudit(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("audit").addColumn("previousHash", "text").execute();
  await db.schema.alterTable("audit").addColumn("hash", "text").execute();
  await db.schema
    .createIndex("audit_by_actor")
    .on("audit")
    .columns(["workspaceId", "actorUserId", "action", "seq"])
    .execute();
  // Reads are most of the rows: who looks for acts passes over none of them.
  await db.schema
    .createIndex("audit_acts")
    .on("audit")
    .columns(["workspaceId", "seq"])
    .where(sql<boolean>`"action" <> 'items.read'`)
    .execute();
  await db.schema.createIndex("audit_by_time").on("audit").columns(["workspaceId", "at"]).execute();
}
