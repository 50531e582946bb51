import type { EndedConnection } from "#storage/records/connections.ts";
import type { Store } from "#storage/store.ts";
import type { ServerDeps } from "./deps.ts";
import type { RegisteredClient } from "./oauth.ts";
import type { ConnectionSecrets } from "./secrets.ts";
import { clientOf } from "./tokens.ts";

/** Tokens that nobody has any more, while they are told to their provider. */
export interface EndedGrant {
  connectionId: string;
  client: RegisteredClient;
  secrets: ConnectionSecrets;
}

type Deps = Pick<ServerDeps, "store" | "secrets" | "oauth" | "afterwards" | "log">;

/** What a connection had at its provider; to be read before its secrets are deleted. Undefined where nobody signed in. */
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

/** Tells providers, after the answer and once: here the tokens are deleted already. */
export function giveBack({ oauth, afterwards, log }: Deps, grants: readonly (EndedGrant | undefined)[]): void {
  for (const grant of grants) {
    if (!grant?.client.authorization.revocationEndpoint) continue;
    const { connectionId, client, secrets } = grant;
    afterwards.run("a revocation at a provider", async () => {
      const isTold = await oauth.revoke(client, secrets);
      if (!isTold) log.warn({ connectionId }, "tokens could not be revoked at a provider");
    });
  }
}

/** The same of somebody who left. */
export function giveBackLeft(deps: Deps, workspaceId: string, connections: readonly EndedConnection[]): void {
  deps.afterwards.run("ending the connections of someone who left", async () => {
    for (const connection of connections) {
      giveBack(deps, [await grantOf(deps, deps.store, workspaceId, connection)]);
    }
  });
}
