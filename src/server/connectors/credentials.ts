import { z } from "zod";
import { ApiError, forbidden } from "#api/errors.ts";
import { actsAsAdmin, type Actor } from "#storage/access/actor.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { HttpGrant } from "#sources/http/pool.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store } from "#storage/records/store.ts";
import { sealedIn, type Vault } from "#storage/vault.ts";

/** Secrets by name, as the source's schema defines them. */
export type Credentials = Readonly<Record<string, string>>;

/** The credentials that a connector uses on its own. */
export interface ConnectorCredentials {
  credentials: Credentials;
  /** The account with which the connector reads, instead of credentials. */
  account?: AccountTokens;
  /** The owner's connection to a provider server through which the connector reads, instead of credentials. */
  connectionId?: string;
  /** How to read through the connection, if there is one. */
  mcp?: ConnectionWay;
  /** Whether the person who made the connector is an admin here now. */
  isAdminMade: boolean;
}

type AccountTokens = NonNullable<HttpGrant["account"]>;

/** The functions of people's connections to provider servers that a connector needs. */
export interface ConnectorConnections {
  /**
   * Throws unless the connection belongs to this person and is active now.
   *
   * @throws ApiError `connector_config_invalid`
   */
  requireOwn(actor: Actor, connectionId: string, from?: Store): Promise<unknown>;
  /** How a source reads through the connection on behalf of the connection's owner. */
  wayOf(workspaceId: string, connectionId: string): Promise<ConnectionWay>;
}

type ConnectionWay = NonNullable<SourceContext<unknown>["mcp"]>;

/** The functions of people's accounts that a connector needs. */
export interface ConnectorAccounts {
  /**
   * Returns the tokens of an account with which this person may connect the source.
   *
   * @throws ApiError `connector_config_invalid` if the account isn't theirs, belongs to another provider, or must be
   *   reconnected
   */
  own(actor: Actor, accountId: string, providerId: string): Promise<AccountTokens>;
  /** The tokens with which a connector reads. @throws ApiError `source_unauthorized` if the account is gone */
  tokensOf(workspaceId: string, accountId: string): Promise<AccountTokens>;
  /** The owner of the account. */
  ownerOf(workspaceId: string, accountId: string): Promise<string | undefined>;
}

/** Stores connectors' credentials: sealed, and opened only for their source. */
export type CredentialKeeper = ReturnType<typeof makeCredentialKeeper>;

export function makeCredentialKeeper({
  store,
  vault,
  accounts,
  connections,
  now,
}: {
  store: Store;
  vault: Vault;
  accounts: Pick<ConnectorAccounts, "tokensOf" | "ownerOf">;
  connections: Pick<ConnectorConnections, "wayOf">;
  now: () => number;
}) {
  async function isAdminMade(workspaceId: string, createdBy: string): Promise<boolean> {
    const maker = await store.in(workspaceId).members.find(createdBy);
    return maker?.role === "owner" || maker?.role === "admin";
  }
  return {
    /** Whether the person who made the connector is an admin here now. */
    isAdminMade: (workspaceId: string, { createdBy }: Pick<ConnectorRecord, "createdBy">): Promise<boolean> =>
      isAdminMade(workspaceId, createdBy),
    /**
     * Returns a connector's credentials. Credentials sealed with an older key are sealed again.
     *
     * @throws ApiError `secret_unreadable`, `source_unauthorized` if the connector's account is gone
     */
    async credentialsOf(
      workspaceId: string,
      {
        connectorId,
        createdBy,
        accountId,
        connectionId,
      }: Pick<ConnectorRecord, "connectorId" | "createdBy" | "accountId" | "connectionId">,
    ): Promise<ConnectorCredentials> {
      const workspace = store.in(workspaceId);
      const made = { isAdminMade: await isAdminMade(workspaceId, createdBy) };
      if (connectionId !== null) {
        const mcp = await connections.wayOf(workspaceId, connectionId);
        return { credentials: {}, connectionId, mcp, ...made };
      }
      if (accountId !== null) {
        return { credentials: {}, account: await accounts.tokensOf(workspaceId, accountId), ...made };
      }
      const stored = await workspace.connectors.findCredentials(connectorId);
      if (!stored) return { credentials: {}, ...made };
      const place = placeOf(workspaceId, connectorId);
      const text = vault.open(place, stored.sealed);
      if (vault.isOutdated(stored.sealed)) {
        const sealed = vault.seal(place, text);
        await store.in(workspaceId).connectors.resealCredentials(connectorId, stored.sealed, sealed);
      }
      return { credentials: Stored.parse(JSON.parse(text)), ...made };
    },
    /** The person who gave the stored credentials or owns the account; undefined if the connector has neither. */
    async giverOf(
      workspaceId: string,
      { connectorId, accountId }: Pick<ConnectorRecord, "connectorId" | "accountId">,
    ): Promise<string | undefined> {
      if (accountId !== null) return accounts.ownerOf(workspaceId, accountId);
      return (await store.in(workspaceId).connectors.findCredentials(connectorId))?.givenBy;
    },
    /**
     * Replaces the stored credentials, in the transaction of the change that causes it. If there are no new ones,
     * deletes the old ones.
     */
    async keep(tx: Store, actor: Actor, connectorId: string, credentials: Credentials): Promise<void> {
      const { connectors } = tx.in(actor.workspaceId);
      await connectors.deleteCredentials(connectorId);
      if (Object.keys(credentials).length === 0) return;
      const sealed = vault.seal(placeOf(actor.workspaceId, connectorId), JSON.stringify(credentials));
      await connectors.addCredentials({ connectorId, sealed, givenBy: actor.userId, givenAt: now() });
    },
  };
}

/**
 * Parses credentials by the source's schema. Returns none if none were given. Error messages never repeat a value.
 *
 * @throws ApiError `connector_config_invalid`, which names the invalid key
 */
export function parseCredentials(source: Source, received: Credentials | undefined): Credentials {
  const { credentials, name } = source.spec;
  if (received === undefined || Object.keys(received).length === 0) return {};
  if (!credentials) throw new ApiError("connector_config_invalid", { message: `${name} does not use credentials.` });
  const result = credentials.safeParse(received);
  if (result.success) return result.data;
  const errors = result.error.issues.map((issue) => ({
    path: ["credentials", ...issue.path.map(String)].join("."),
    message: issue.message,
  }));
  throw new ApiError("connector_config_invalid", {
    message: `The credentials of ${name} are not valid: ${errors[0]?.message ?? "unknown"}`,
    field: errors[0]?.path ?? "credentials",
    errors,
  });
}

/**
 * Checks that this person may connect the source. Without an account only admins may connect it, unless the source
 * allows it for everyone.
 *
 * @throws ApiError `forbidden` if only an admin may connect the source in this way; `connector_config_invalid` if the
 *   source needs credentials and has none
 */
export function requireMayConnect(
  actor: Actor,
  source: Source,
  config: unknown,
  { credentials, account, connectionId }: Pick<ConnectorCredentials, "credentials" | "account" | "connectionId">,
): void {
  const hasCredentials = account !== undefined || connectionId !== undefined || Object.keys(credentials).length > 0;
  const { auth, name } = source.spec;
  const isNeeded = auth.every(({ type }) => type !== "none" && type !== "key");
  if (isNeeded && !hasCredentials) {
    const needed = NEEDED.find(({ type }) => auth.some((way) => way.type === type)) ?? NEEDED[1];
    throw new ApiError("connector_config_invalid", { message: `${name} needs ${needed.what}.`, field: needed.field });
  }
  if (actsAsAdmin(actor) || !isForAdmins(source, config, { hasCredentials })) return;
  throw forbidden(
    `Only an admin can connect ${name} without credentials.`,
    "Give your own credentials, or ask an admin.",
  );
}

/**
 * Whether only an admin may connect this source in this way: it reads the server's own machine, accepts pushes, or (in
 * most cases) uses no person's account. If this program can no longer read the config, only the credentials decide.
 */
export function isForAdmins(source: Source, config: unknown, { hasCredentials }: { hasCredentials: boolean }): boolean {
  const types = new Set(source.spec.auth.map(({ type }) => type));
  const isWithoutPeople = [...types].every((type) => type === "none" || type === "key");
  if (isWithoutPeople && !source.isForAdmins) return true;
  const parsed = source.spec.config.safeParse(config);
  if (source.isForAdmins && parsed.success) return source.isForAdmins(parsed.data, { hasCredentials });
  // If the source needs credentials and none are stored, they were lost, and the owner provides them again.
  return !hasCredentials && (types.has("none") || types.has("key"));
}

const NEEDED = [
  { type: "credentials", what: "credentials", field: "credentials" },
  { type: "account", what: "an account of yours", field: "accountId" },
  { type: "connection", what: "a connection of yours", field: "connectionId" },
] as const;

const Stored = z.record(z.string(), z.string());

const placeOf = sealedIn("connector_credentials");
