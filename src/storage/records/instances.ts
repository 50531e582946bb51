import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { CONNECTOR_TENANTS, INSTANCES } from "#storage/tables/connectors.ts";

/** An instance of an app by its base URL, in the form of `normalizeBaseUrl`. */
export interface RegisteredInstance {
  providerId: string;
  baseUrl: string;
}

/** Reads and writes instances that admins registered, and the tenants that connectors' servers report. */
export function makeInstanceStore(sql: SqlHandles, workspaceId: string) {
  const instances = inWorkspace(sql, workspaceId, INSTANCES);
  const tenants = inWorkspace(sql, workspaceId, CONNECTOR_TENANTS);
  return {
    /** Returns the instances by provider and address. */
    async list(): Promise<RegisteredInstance[]> {
      return instances.select().select(["providerId", "baseUrl"]).orderBy("providerId").orderBy("baseUrl").execute();
    },

    add: (instance: RegisteredInstance, registeredBy: string, registeredAt: number) =>
      instances.insert({ ...instance, registeredBy, registeredAt }, {}),

    remove: ({ providerId, baseUrl }: RegisteredInstance) => instances.remove({ providerId, baseUrl }),

    /** Returns the tenant that the connector's server last reported; undefined when it reports none. */
    tenantOf: async (connectorId: string) => (await tenants.find({ connectorId }))?.tenantId,

    async setTenant(connectorId: string, tenantId: string | undefined): Promise<void> {
      if (tenantId === undefined) await tenants.remove({ connectorId });
      else await tenants.insert({ connectorId, tenantId }, { tenantId });
    },
  };
}
