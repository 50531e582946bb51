import type { SqlHandles } from "#storage/handles.ts";

/** An instance of an app by its base URL, in the form of `normalizeBaseUrl`. */
export interface RegisteredInstance {
  providerId: string;
  baseUrl: string;
}

/** Instances that admins registered, and the tenants that the servers of connectors tell. */
export function makeInstanceStore(sql: SqlHandles, workspaceId: string) {
  return {
    /** By provider and address. */
    async list(): Promise<RegisteredInstance[]> {
      return sql.read
        .selectFrom("instances")
        .select(["providerId", "baseUrl"])
        .where("workspaceId", "=", workspaceId)
        .orderBy("providerId")
        .orderBy("baseUrl")
        .execute();
    },

    async add(instance: RegisteredInstance, registeredBy: string, registeredAt: number): Promise<void> {
      await sql.write
        .insertInto("instances")
        .values({ ...instance, workspaceId, registeredBy, registeredAt })
        .onConflict((oc) => oc.doNothing())
        .execute();
    },

    async remove({ providerId, baseUrl }: RegisteredInstance): Promise<void> {
      await sql.write
        .deleteFrom("instances")
        .where("workspaceId", "=", workspaceId)
        .where("providerId", "=", providerId)
        .where("baseUrl", "=", baseUrl)
        .execute();
    },

    /** The tenant that the connector's server told last; undefined where it tells none. */
    async tenantOf(connectorId: string): Promise<string | undefined> {
      const row = await sql.read
        .selectFrom("connector_tenants")
        .select("tenantId")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .executeTakeFirst();
      return row?.tenantId;
    },

    async setTenant(connectorId: string, tenantId: string | undefined): Promise<void> {
      await sql.write
        .deleteFrom("connector_tenants")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
      if (tenantId === undefined) return;
      await sql.write.insertInto("connector_tenants").values({ workspaceId, connectorId, tenantId }).execute();
    },
  };
}
