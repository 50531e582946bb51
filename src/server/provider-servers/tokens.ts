import { ApiError } from "#api/errors.ts";
import type { McpChallenge } from "#mcp-client/problem.ts";
import { EARLY_MS } from "#server/accounts/renewal.ts";
import { GrantRefused } from "#server/accounts/token-endpoint.ts";
import type { ConnectionRecord } from "#storage/records/connections.ts";
import type { ProviderServerRecord } from "#storage/records/provider-servers.ts";
import type { Store } from "#storage/records/store.ts";
import type { ServerDeps } from "./deps.ts";
import { isElicited } from "./elicitation.ts";
import { loseConnection } from "./lose.ts";
import type { ProvenAccount, RegisteredClient } from "./oauth.ts";
import type { ConnectionSecrets } from "./secrets.ts";

export type TokenDeps = Pick<
  ServerDeps,
  "store" | "clock" | "secrets" | "audit" | "emit" | "log" | "oauth" | "discover" | "renewer"
>;

interface Kept {
  connection: ConnectionRecord;
  secrets: ConnectionSecrets;
  version: number;
  expiresAt: number | null;
}

/**
 * Returns the access token of an active connection. A token that ends soon is renewed.
 *
 * @throws ApiError `source_unauthorized`, `source_unavailable`
 */
export async function accessTokenOf(deps: TokenDeps, workspaceId: string, connectionId: string): Promise<string> {
  const { secrets, expiresAt } = await read(deps, workspaceId, connectionId);
  const isOver = expiresAt !== null && expiresAt - EARLY_MS <= deps.clock.now();
  return isOver && secrets.refreshToken !== undefined
    ? renewToken(deps, workspaceId, connectionId, secrets.token)
    : secrets.token;
}

/**
 * Renews a token that its server no longer accepts. If the server now names another authorization server, the token
 * isn't renewed, and the owner of the connection has to sign in there. Source: S31.
 *
 * @throws ApiError `source_unauthorized` if the connection must be reconnected, `source_unavailable`
 */
export async function renewRefused(
  deps: TokenDeps,
  workspaceId: string,
  { connectionId, server, stale, challenge }: Refused,
): Promise<string> {
  const { connection, secrets } = await read(deps, workspaceId, connectionId);
  if (secrets.token !== stale) return secrets.token;
  const pinned = connection.authorization?.issuer;
  const signal = AbortSignal.timeout(DISCOVER_MS);
  const issuer = await deps.discover(server.url, challenge, signal).then(
    (found) => found.issuer,
    () => pinned,
  );
  if (issuer !== pinned) {
    await loseConnection(deps, workspaceId, connectionId, "issuer_changed");
    throw notActive();
  }
  return renewToken(deps, workspaceId, connectionId, stale);
}

/** A refused request, with the token that signed it. */
interface Refused {
  connectionId: string;
  server: Pick<ProviderServerRecord, "url">;
  stale: string;
  challenge: McpChallenge;
}

/**
 * Returns the OAuth client for token requests of a connection. A client from an admin has the server's current secret.
 */
export async function clientOf(
  { store, secrets }: Pick<ServerDeps, "store" | "secrets">,
  workspaceId: string,
  { serverId, authorization }: Pick<ConnectionRecord, "serverId" | "authorization">,
  clientSecret: string | undefined,
): Promise<RegisteredClient | undefined> {
  if (!authorization) return undefined;
  const server = await store.in(workspaceId).providerServers.find(serverId);
  if (server?.clientId !== authorization.clientId) return { authorization, clientSecret };
  return { authorization, clientSecret: await secrets.ofServer(store, workspaceId, serverId) };
}

export function notActive(): ApiError {
  return new ApiError("source_unauthorized", {
    message: "The connection has to be reconnected.",
    hint: "Its owner can connect it again on the page of its server.",
  });
}

const DISCOVER_MS = 10_000;

function renewToken(deps: TokenDeps, workspaceId: string, connectionId: string, stale: string): Promise<string> {
  const { connections } = deps.store.in(workspaceId);
  let kept: Kept;
  return deps.renewer(connectionId, stale, {
    async read() {
      kept = await read(deps, workspaceId, connectionId);
      return { accessToken: kept.secrets.token, version: kept.version };
    },
    lock: (version, lock) => connections.lock(connectionId, version, lock),
    renew: (by) => renewLocked(deps, workspaceId, kept, by),
  });
}

async function renewLocked(
  deps: TokenDeps,
  workspaceId: string,
  { connection, secrets, version }: Kept,
  by: string,
): Promise<string> {
  const { connectionId } = connection;
  const { connections } = deps.store.in(workspaceId);
  try {
    const client = await clientOf(deps, workspaceId, connection, secrets.clientSecret);
    const { refreshToken, token } = secrets;
    if (refreshToken === undefined || !client) throw new GrantRefused();
    const granted = await deps.oauth.refresh(client, { token, refreshToken });
    const account = deps.oauth.accountOf(client, granted.idToken);
    const after = { ...secrets, token: granted.secrets.accessToken, refreshToken: granted.secrets.refreshToken };
    if (isOther(connection, account)) {
      await deps.oauth.revoke(client, after);
      throw new OtherAccount();
    }
    const sealed = deps.secrets.seal(workspaceId, connectionId, after);
    if (!(await connections.putLocked(connectionId, by, { sealed, expiresAt: granted.expiresAt }))) {
      // The connection was ended or reconnected in the meantime, so these tokens won't be used.
      await deps.oauth.revoke(client, after);
      return (await read(deps, workspaceId, connectionId)).secrets.token;
    }
    return after.token;
  } catch (error) {
    await connections.unlock(connectionId, by);
    const isOfOther = error instanceof OtherAccount;
    if (!isOfOther && !(error instanceof GrantRefused)) throw error;
    const today = await read(deps, workspaceId, connectionId);
    if (today.version !== version) return today.secrets.token;
    await loseConnection(deps, workspaceId, connectionId, isOfOther ? "other_account" : "refused");
    throw notActive();
  }
}

/** Thrown when the server returns tokens of another account for a refresh token. */
class OtherAccount extends Error {}

/**
 * Whether a refresh returned another account than the one that signed in. If the server doesn't identify the account,
 * it can't be checked.
 *
 * Source: https://openid.net/specs/openid-connect-core-1_0.html#RefreshTokenResponse
 */
function isOther({ accountId }: Pick<ConnectionRecord, "accountId">, account: ProvenAccount | undefined): boolean {
  return accountId !== null && account !== undefined && account.id !== accountId;
}

async function read(
  { store, secrets }: Pick<TokenDeps, "secrets"> & { store: Store },
  workspaceId: string,
  connectionId: string,
): Promise<Kept> {
  const { connections } = store.in(workspaceId);
  const connection = await connections.find(connectionId);
  const secret = await connections.findSecret(connectionId);
  if (!connection || !secret || (connection.status !== "active" && !isElicited(connection))) throw notActive();
  const { version, expiresAt, sealed } = secret;
  return { connection, secrets: secrets.open(workspaceId, connectionId, sealed), version, expiresAt };
}
