import { connectionRoutes } from "#api/connections.ts";
import { providerServerRoutes } from "#api/provider-servers.ts";
import type { Mount } from "#server/http/mount.ts";
import { agree } from "./agreements.ts";
import { listApps } from "./apps.ts";
import { listTools, previewMapping, setMapping } from "./mapping.ts";
import { createConnection, disconnect, listConnections, setAccess } from "./connections.ts";
import type { ServerDeps } from "./deps.ts";
import { createIntent } from "./intents.ts";
import { healthOf } from "./health.ts";
import { createServer, listServers, removeServer, updateServer } from "./servers.ts";
import { testStored, testUnsaved } from "./tests.ts";

/** Mounts `/api/mcp-servers`: third-party servers, their apps, and people's connections. */
export function mountProviderServers(at: Mount, { serverDeps: deps }: { serverDeps: ServerDeps }): void {
  at.membersWith(deps, providerServerRoutes, {
    list: listServers,
    create: createServer,
    update: updateServer,
    remove: removeServer,
    testUnsaved,
    test: testStored,
    tools: listTools,
    preview: previewMapping,
    map: setMapping,
    health: healthOf,
    apps: listApps,
  });
  at.membersWith(deps, connectionRoutes, {
    connect: createConnection,
    intend: createIntent,
    connections: listConnections,
    disconnect,
    access: setAccess,
    agree,
  });
}
