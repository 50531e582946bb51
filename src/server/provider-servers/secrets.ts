import { z } from "zod";
import type { Store } from "#storage/records/store.ts";
import { sealedIn, type Vault } from "#storage/vault.ts";

export const ConnectionSecrets = z.object({
  /** The person's own token, or the access token granted to them. */
  token: z.string(),
  refreshToken: z.string().optional(),
  /** Secret of a client that registered itself. The secret of an admin's client is stored with the server. */
  clientSecret: z.string().optional(),
});

/** The secrets that sign the requests of a connection. */
export type ConnectionSecrets = z.infer<typeof ConnectionSecrets>;

export type SecretKeeper = ReturnType<typeof makeSecretKeeper>;

/** Stores secrets of servers and connections, sealed in their own rows, so that deleting the row deletes the secret. */
export function makeSecretKeeper({ vault }: { vault: Vault }) {
  return {
    async ofServer(store: Store, workspaceId: string, serverId: string): Promise<string | undefined> {
      const sealed = await store.in(workspaceId).providerServers.findSecret(serverId);
      return sealed === undefined ? undefined : vault.open(serverPlace(workspaceId, serverId), sealed);
    },
    /** Stores a server's secret; null deletes it. */
    async putServer(tx: Store, workspaceId: string, serverId: string, secret: string | null): Promise<void> {
      const sealed = secret === null ? undefined : vault.seal(serverPlace(workspaceId, serverId), secret);
      await tx.in(workspaceId).providerServers.putSecret(serverId, sealed);
    },
    seal: (workspaceId: string, connectionId: string, secrets: ConnectionSecrets) =>
      vault.seal(connectionPlace(workspaceId, connectionId), JSON.stringify(secrets)),
    open(workspaceId: string, connectionId: string, sealed: string): ConnectionSecrets {
      const text = vault.open(connectionPlace(workspaceId, connectionId), sealed);
      return ConnectionSecrets.parse(JSON.parse(text));
    },
  };
}

const serverPlace = sealedIn("provider_server_secrets");

const connectionPlace = sealedIn("connection_secrets");
