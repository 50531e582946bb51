import type { EndedConnection } from "#storage/records/connections.ts";
import type { Store } from "#storage/records/store.ts";
import type { ServerDeps } from "./deps.ts";
import type { RegisteredClient } from "./oauth.ts";
import type { ConnectionSecrets } from "./secrets.ts";
import { clientOf } from "./tokens.ts";

/** Tokens that are no longer used, and have yet to be revoked at their provider. */
export interface EndedGrant {
  connectionId: string;
  client: RegisteredClient;
  secrets: ConnectionSecrets;
}

type Deps = Pick<ServerDeps, "store" | "secrets" | "oauth" | "afterwards" | "log">;

/**
 * Returns a connection's grant at its provider. Read it before the connection's secrets are deleted. Undefined if no
 * one signed in there.
 */
export async function grantOf(
  { secrets }: Pick<ServerDeps, "secrets">,
  from: Store,
  workspaceId: string,
  { connectionId, serverId, authorization, sealed }: EndedConnection,
): Promise<EndedGrant | undefined> {
  if (authorization === null || sealed === undefined) return undefined;
  const kept = secrets.open(workspaceId, connectionId, sealed);
  const client = await clientOf({ store: from, secrets }, workspaceId, { serverId, authorization }, kept.clientSecret);
  return client && { connectionId, client, secrets: kept };
}

/** Revokes grants at their providers. It tries once, after the response; here the tokens are already deleted. */
export function giveBack({ oauth, afterwards, log }: Deps, grants: readonly (EndedGrant | undefined)[]): void {
  for (const grant of grants) {
    if (!grant?.client.authorization.revocationEndpoint) continue;
    const { connectionId, client, secrets } = grant;
    afterwards.run("a revocation at a provider", async () => {
      const isRevoked = await oauth.revoke(client, secrets);
      if (!isRevoked) log.warn({ connectionId }, "tokens could not be revoked at a provider");
    });
  }
}

/** Revokes the grants of a person who left. */
export function giveBackLeft(deps: Deps, workspaceId: string, connections: readonly EndedConnection[]): void {
  deps.afterwards.run("ending the connections of someone who left", async () => {
    for (const connection of connections) {
      giveBack(deps, [await grantOf(deps, deps.store, workspaceId, connection)]);
    }
  });
}
