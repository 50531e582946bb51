import type { MemberCall } from "#server/http/mount.ts";
import type { providerServerRoutes, ServerApp } from "#api/provider-servers.ts";
import { ApiError, forbidden } from "#api/errors.ts";
import { type Actor, actsAsAdmin } from "#storage/access/actor.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";
import { requireEnabled, requireServer, type ServerDeps, visibleConnections } from "./deps.ts";
import { inMemory, readPage } from "#server/http/pages.ts";

/** Lists the apps that a server offers. A plain MCP server is itself its only app. @throws ApiError `not_found` */
export async function listApps(
  deps: ServerDeps,
  { actor, params: { id: serverId }, query: { q, ...query } }: MemberCall<typeof providerServerRoutes.apps>,
) {
  const server = await requireServer(deps, actor, serverId);
  const wanted = q?.trim().toLowerCase() ?? "";
  const isShown = isOffered(server, server.slug) && `${server.name} ${server.slug}`.toLowerCase().includes(wanted);
  const rows = inMemory(isShown ? [server] : [], ({ createdAt, serverId }) => ({ value: createdAt, id: serverId }));
  const list = { route: "GET /api/mcp-servers/{id}/apps", args: { serverId, q }, kind: "server", ...rows } as const;
  const { page, nextCursor } = await readPage(deps, actor, list, query);
  const apps: ServerApp[] = [];
  for (const one of page) apps.push(await toApp(deps, actor, one));
  return { apps, nextCursor };
}

/** Checks that the actor may connect this app. @throws ApiError `server_disabled`, `forbidden`, `app_unknown` */
export function requireConnectable(actor: Actor, server: ProviderServerRecord, app: string): void {
  requireEnabled(server);
  if (server.connectPolicy === "admins" && !actsAsAdmin(actor)) {
    throw forbidden(`Only an admin can connect ${server.name}.`);
  }
  if (app === server.slug && isOffered(server, app)) return;
  throw new ApiError("app_unknown", {
    message: `${server.name} has no app "${app}" that can be connected here.`,
    field: "app",
  });
}

function isOffered({ apps }: ProviderServerRecord, slug: string): boolean {
  return apps === null || apps.includes(slug);
}

async function toApp(deps: ServerDeps, actor: Actor, server: ProviderServerRecord): Promise<ServerApp> {
  const { serverInfo, capabilities, slug } = server;
  const connections = (await visibleConnections(deps, actor, server.serverId)).filter(
    ({ status }) => status === "active" || status === "needs_reauth",
  );
  const mine = connections.filter(({ ownerUserId }) => ownerUserId === actor.userId).length;
  const mapped = typeof server.mapping === "object" && server.mapping !== null ? server.mapping : {};
  const { authKind } = server;
  return {
    slug,
    name: server.name,
    description: serverInfo ? `${serverInfo.title ?? serverInfo.name} ${serverInfo.version}`.trim() : "",
    iconUrl: null,
    categories: [],
    auth: [authKind === "oauth" ? "oauth" : authKind === "none" ? "none" : "api_key"],
    ...(authKind === "bearer" || authKind === "header" ? { fields: TOKEN_FIELDS } : {}),
    content: {
      resources: capabilities?.["resources"] ?? false,
      search: "search" in mapped,
      fetch: "fetch" in mapped,
    },
    connected: { mine, shared: connections.length - mine },
  };
}

const TOKEN_FIELDS = {
  type: "object",
  properties: { token: { type: "string", title: "Token", writeOnly: true, minLength: 1, maxLength: 8_192 } },
  required: ["token"],
  additionalProperties: false,
};
