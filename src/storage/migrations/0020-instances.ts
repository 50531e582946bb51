import { type Kysely, sql } from "kysely";

/**
 * Instances of apps that a workspace trusts to identify people, the tenants that servers report, and the domains of
 * addresses.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("instances")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("providerId", "text", (c) => c.notNull())
    .addColumn("baseUrl", "text", (c) => c.notNull())
    .addColumn("registeredBy", "text", (c) => c.notNull())
    .addColumn("registeredAt", "bigint", (c) => c.notNull())
    .addPrimaryKeyConstraint("instances_key", ["workspaceId", "providerId", "baseUrl"])
    .modifyEnd(sql`without rowid`)
    .execute();
  await db.schema
    .createTable("connector_tenants")
    .addColumn("workspaceId", "text", (c) => c.notNull())
    .addColumn("connectorId", "text", (c) => c.notNull())
    .addColumn("tenantId", "text", (c) => c.notNull())
    .addPrimaryKeyConstraint("connector_tenants_key", ["workspaceId", "connectorId"])
    .modifyEnd(sql`without rowid`)
    .execute();
  await db.schema
    .alterTable("workspaces")
    .addColumn("identityDomains", "text", (c) => c.notNull().defaultTo("[]"))
    .execute();
}
