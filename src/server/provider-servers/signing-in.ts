import { ApiError } from "#api/errors.ts";
import { FLOW_MS } from "#server/accounts/one-time.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";
import type { ServerDeps } from "./deps.ts";
import type { IntentFlow, ShownServer } from "./flows.ts";
import { linkInvalid } from "./link-invalid.ts";

/**
 * Extends a sign-in, so that the person gets the full time of each stage. Until then their connection prevents the
 * server from being moved. Call it before anything is sent to or received from the authorization server. Source: S31.
 *
 * @returns the server, unchanged since the person was shown it
 * @throws ApiError `connection_failed` if the server has changed; `link_invalid` if it is too late
 */
export async function keepSigningIn(
  { store, clock }: Pick<ServerDeps, "store" | "clock">,
  workspaceId: string,
  connectionId: string,
  { serverId, shown, found, again }: Pick<IntentFlow, "serverId" | "shown" | "found" | "again">,
): Promise<ProviderServerRecord> {
  return store.transaction(async (tx) => {
    const { providerServers, connections } = tx.in(workspaceId);
    const server = await providerServers.find(serverId);
    const connection = await connections.find(connectionId);
    if (!server?.isEnabled || !connection || connection.status === "revoked") throw linkInvalid();
    requireShown(server, shown);
    // A client that an admin registered is valid at only one authorization server.
    if (server.clientId !== null && server.issuer !== null && server.issuer !== found.issuer)
      throw movedMeanwhile(server);
    if (again) return server;
    if (connection.status !== "pending") throw linkInvalid();
    await connections.update(connectionId, { pendingUntil: clock.now() + FLOW_MS });
    return server;
  });
}

/** @throws ApiError `connection_failed` if the server has changed since the person was shown where they sign in */
export function requireShown(server: ProviderServerRecord, shown: ShownServer): void {
  const isSame = server.url === shown.url && server.authKind === shown.authKind && server.clientId === shown.clientId;
  if (!isSame) throw movedMeanwhile(server);
}

function movedMeanwhile({ name }: Pick<ProviderServerRecord, "name">): ApiError {
  return new ApiError("connection_failed", {
    message: `An admin changed ${name} while you were signing in. Nothing was sent there. Connect it again.`,
    details: { step: "auth", problem: "server_changed" },
  });
}
