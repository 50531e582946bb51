import type { Connection } from "#api/connections.ts";
import type { ProviderServer, ServerProblem } from "#api/provider-servers.ts";
import { isoOf, isoOrNull } from "#core/instant.ts";
import { MCP_PROBLEMS } from "#mcp-client/problem.ts";
import { type Actor, actsAsAdmin } from "#storage/access/actor.ts";
import type { ConnectionRecord } from "#storage/records/connections.ts";
import type { ProviderServerRecord, ServerProblem as StoredProblem } from "#storage/records/provider-servers.ts";
import { toolsOf } from "./agreed-tools.ts";
import { type ServerDeps, visibleConnections } from "./deps.ts";
import { findElicitation, isElicited } from "./elicitation.ts";
import { NO_ADMIN, ownerMaySign } from "./signing.ts";

/** Returns a server as this person sees it, without secrets. Counts include only what they can see. */
export async function toServer(
  deps: Pick<ServerDeps, "store" | "oauth">,
  actor: Actor,
  server: ProviderServerRecord,
): Promise<ProviderServer> {
  const workspace = deps.store.in(actor.workspaceId);
  const { serverId, authKind, headerName, serverInfo, capabilities } = server;
  const connections = await visibleConnections(deps, actor, serverId);
  const hasSecret = (await workspace.providerServers.findSecret(serverId)) !== undefined;
  return {
    id: serverId,
    name: server.name,
    url: server.url,
    auth: {
      kind: authKind,
      hasSecret,
      ...(headerName !== null && { headerName }),
      ...(authKind === "oauth" && actsAsAdmin(actor) && registrationOf(deps, server)),
    },
    enabled: server.isEnabled,
    connectPolicy: server.connectPolicy,
    apps: server.apps === null ? null : [...server.apps],
    health: { status: server.health, checkedAt: isoOrNull(server.checkedAt) },
    serverInfo,
    protocolVersion: server.protocolVersion,
    // The capabilities were stored only in the contract's own form.
    capabilities: capabilities as ProviderServer["capabilities"],
    counts: {
      apps: 1,
      connections: connections.length,
      connectors: await countConnectors(deps, actor, connections),
    },
    createdAt: isoOf(server.createdAt),
    createdBy: { id: server.createdBy, name: (await workspace.members.find(server.createdBy))?.name ?? "" },
  };
}

/** The way in which kb is registered as a client at the authorization server, and its redirect address. */
function registrationOf(
  { oauth }: Pick<ServerDeps, "oauth">,
  { clientId, callback }: ProviderServerRecord,
): Pick<ProviderServer["auth"], "clientId" | "redirectUrl"> {
  const redirectUrl = oauth.redirectUrlOf({ callback: callback ?? undefined });
  return { ...(clientId !== null && { clientId }), redirectUrl };
}

/**
 * Returns a connection as this person sees it. Only its owner and admins see its account at the provider and with whom
 * it is shared.
 */
export async function toConnection(
  { store, clock, once }: Pick<ServerDeps, "store" | "clock" | "once">,
  actor: Actor,
  server: Pick<ProviderServerRecord, "isEnabled" | "mapping">,
  connection: ConnectionRecord,
): Promise<Connection> {
  const workspace = store.in(actor.workspaceId);
  const { connectionId, ownerUserId, visibility, memberIds, groupIds, accountId, accountLabel } = connection;
  const isMine = ownerUserId === actor.userId;
  const seesAll = isMine || actsAsAdmin(actor);
  const secret = seesAll ? await workspace.connections.findSecret(connectionId) : undefined;
  const isOver = connection.pendingUntil !== null && connection.pendingUntil <= clock.now();
  const page = isMine && isElicited(connection) ? await findElicitation({ once }, connectionId) : undefined;
  const status = connection.status === "pending" && isOver ? "expired" : connection.status;
  const isSigned = status !== "active" || (await ownerMaySign(workspace, connection));
  const reason = isSigned ? connection.statusReason : NO_ADMIN;
  return {
    id: connectionId,
    serverId: connection.serverId,
    app: connection.app,
    name: connection.name,
    account: seesAll && accountId !== null ? { id: accountId, label: accountLabel ?? accountId } : null,
    owner: { id: ownerUserId, name: (await workspace.members.find(ownerUserId))?.name ?? "" },
    isMine,
    status: status === "active" ? workingState(server, connection) : status,
    statusReason: seesAll ? reason : null,
    access: seesAll
      ? { visibility, memberIds: [...memberIds], groupIds: [...groupIds] }
      : { visibility, memberIds: [], groupIds: [] },
    scopes: seesAll ? [...connection.scopes] : [],
    elicitation: page === undefined ? null : { host: new URL(page).host },
    ...(isMine ? toolsOf(server, connection) : { tools: [], agreement: null }),
    expiresAt: isoOrNull(status === "pending" ? connection.pendingUntil : (secret?.expiresAt ?? null)),
    lastUsedAt: isoOrNull(seesAll ? connection.lastUsedAt : null),
    lastCheckedAt: isoOrNull(seesAll ? connection.lastCheckedAt : null),
    createdAt: isoOf(connection.createdAt),
  };
}

/** The state of a connection that its server accepts. */
function workingState(
  { isEnabled }: Pick<ProviderServerRecord, "isEnabled">,
  { waitingSince }: Pick<ConnectionRecord, "waitingSince">,
): Connection["status"] {
  if (!isEnabled) return "disabled";
  return waitingSince === null ? "active" : "needs_agreement";
}

/** Converts a stored failure to the API's form. */
export function toStoredProblem(problem: StoredProblem | null): ServerProblem | null {
  if (problem === null) return null;
  const { step, code } = problem;
  // An older version of kb may have stored another code.
  const known: Readonly<Record<string, string>> = MCP_PROBLEMS;
  return { step, code, message: known[code] ?? "The server failed." };
}

async function countConnectors(
  { store }: Pick<ServerDeps, "store">,
  actor: Actor,
  connections: readonly ConnectionRecord[],
): Promise<number> {
  const { connectors } = store.in(actor.workspaceId);
  let count = 0;
  for (const { connectionId, ownerUserId } of connections) {
    if (ownerUserId !== actor.userId && !actsAsAdmin(actor)) continue;
    count += (await connectors.listOn({ connectionId })).length;
  }
  return count;
}
