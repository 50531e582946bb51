import { ApiError } from "#api/errors.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";
import type { ServerDeps } from "./deps.ts";
import { isElicited } from "./elicitation.ts";
import { requireMaySign } from "./signing.ts";
import { isWithin, makeTarget, signWith } from "./target.ts";
import { accessTokenOf, notActive, type TokenDeps } from "./tokens.ts";
import type { Tried } from "./test-run.ts";

/**
 * Returns the headers that sign the next request of a connection. The secrets are read each time, so that revoked
 * credentials stop working at once, and a token that expires soon is renewed.
 *
 * @throws ApiError `source_unauthorized` if the connection isn't active, `source_unavailable` if its server is
 *   disabled, `forbidden` if it has the server's own secret and its owner is no longer an admin
 */
export async function headersOf(
  deps: TokenDeps,
  workspaceId: string,
  server: Pick<ProviderServerRecord, "serverId" | "authKind" | "headerName" | "clientId" | "url">,
  connectionId: string,
): Promise<Record<string, string>> {
  const { store, secrets } = deps;
  const workspace = store.in(workspaceId);
  const connection = await workspace.connections.find(connectionId);
  const today = await workspace.providerServers.find(server.serverId);
  if (!connection || !today || (connection.status !== "active" && !isElicited(connection))) throw notActive();
  if (!today.isEnabled) {
    throw new ApiError("source_unavailable", { message: `An admin has turned ${today.name} off.` });
  }
  // The secrets are only for the address that the server had when the request began.
  if (!isWithin(server.url, today.url)) throw notActive();
  if (connection.way === "none") return {};
  if (connection.way === "oauth") return signWith(today, await accessTokenOf(deps, workspaceId, connectionId));
  if (connection.way === "server") {
    await requireMaySign(workspace, connection);
    const secret = await secrets.ofServer(store, workspaceId, server.serverId);
    if (secret === undefined) throw notActive();
    return signWith(today, secret);
  }
  const kept = await workspace.connections.findSecret(connectionId);
  if (!kept) throw notActive();
  return signWith(today, secrets.open(workspaceId, connectionId, kept.sealed).token);
}

/** The server to test, with its own secret if it has one. */
export async function triedOf(
  { store, secrets }: Pick<ServerDeps, "store" | "secrets">,
  workspaceId: string,
  server: ProviderServerRecord,
): Promise<Tried> {
  const hasOwn = server.authKind === "bearer" || server.authKind === "header";
  const secret = hasOwn ? await secrets.ofServer(store, workspaceId, server.serverId) : undefined;
  const headers = secret === undefined ? {} : signWith(server, secret);
  return { target: makeTarget(server.url, async () => headers), auth: server, isSigned: secret !== undefined };
}
