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

/** `/api/mcp-servers`: third-party servers, their apps, and people's connections. */
export function mountProviderServers(at: Mount, { serverDeps: deps }: { serverDeps: ServerDeps }): void {
  const routes = providerServerRoutes;
  const connections = connectionRoutes;
  at.member(routes.list, ({ actor, query }) => listServers(deps, actor, query));
  at.member(routes.create, ({ actor, body }) => createServer(deps, actor, body));
  at.member(routes.update, ({ actor, params, body }) => updateServer(deps, actor, params.id, body));
  at.member(routes.remove, ({ actor, params }) => removeServer(deps, actor, params.id));
  at.member(routes.testUnsaved, ({ actor, body }) => testUnsaved(deps, actor, body));
  at.member(routes.test, ({ actor, params, body }) => testStored(deps, actor, params.id, body));
  at.member(routes.tools, ({ actor, params, query }) => listTools(deps, actor, params.id, query));
  at.member(routes.preview, ({ actor, params, body }) => previewMapping(deps, actor, params.id, body));
  at.member(routes.map, ({ actor, params, body }) => setMapping(deps, actor, params.id, body));
  at.member(routes.health, ({ actor, params }) => healthOf(deps, actor, params.id));
  at.member(routes.apps, ({ actor, params, query }) => listApps(deps, actor, params.id, query));
  at.member(connections.connect, ({ actor, params, body }) => createConnection(deps, actor, params.id, body));
  at.member(connections.intend, ({ actor, params, body }) => createIntent(deps, actor, params.id, body));
  at.member(connections.connections, ({ actor, params, query }) => listConnections(deps, actor, params.id, query));
  at.member(connections.disconnect, ({ actor, params }) =>
    disconnect(deps, actor, { serverId: params.id, connectionId: params.connectionId }),
  );
  at.member(connections.access, ({ actor, params, body }) =>
    setAccess(deps, actor, { serverId: params.id, connectionId: params.connectionId }, body),
  );
  at.member(connections.agree, ({ actor, params, body }) =>
    agree(deps, actor, { serverId: params.id, connectionId: params.connectionId }, body),
  );
}
