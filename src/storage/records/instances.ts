import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { CONNECTOR_TENANTS, INSTANCES } from "#storage/tables/connectors.ts";

/** An instance of an app by its base URL, in the form of `normalizeBaseUrl`. */
export interface RegisteredInstance {
  providerId: string;
  baseUrl: string;
}

/** Instances that admins registered, and the tenants that connectors' servers report. */
export function makeInstanceStore(sql: SqlHandles, workspaceId: string) {
  const instances = inWorkspace(sql, workspaceId, INSTANCES);
  const tenants = inWorkspace(sql, workspaceId, CONNECTOR_TENANTS);
  return {
    /** By provider and address. */
    async list(): Promise<RegisteredInstance[]> {
      return instances.select().select(["providerId", "baseUrl"]).orderBy("providerId").orderBy("baseUrl").execute();
    },

    async add(instance: RegisteredInstance, registeredBy: string, registeredAt: number): Promise<void> {
      await instances.insert({ ...instance, registeredBy, registeredAt }, {});
    },

    async remove({ providerId, baseUrl }: RegisteredInstance): Promise<void> {
      await instances.remove({ providerId, baseUrl });
    },

    /** The tenant that the connector's server last reported; undefined where it reports none. */
    async tenantOf(connectorId: string): Promise<string | undefined> {
      const row = await tenants.select({ connectorId }).select("tenantId").executeTakeFirst();
      return row?.tenantId;
    },

    async setTenant(connectorId: string, tenantId: string | undefined): Promise<void> {
      await tenants.remove({ connectorId });
      if (tenantId === undefined) return;
      await tenants.insert({ connectorId, tenantId });
    },
  };
}
