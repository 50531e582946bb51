import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import { actsAsAdmin, type Actor } from "#storage/access/actor.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { HttpGrant } from "#sources/http.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store } from "#storage/store.ts";
import type { SealedPlace, Vault } from "#storage/vault.ts";

/** Secrets by their names, as the source's schema takes them. */
export type Credentials = Readonly<Record<string, string>>;

/** The credentials that a connector uses by itself. */
export interface Standing {
  credentials: Credentials;
  /** Whose account it reads with, instead of credentials. */
  account?: AccountTokens;
  /** Through which connection to a provider server it reads, instead of credentials: its owner's. */
  connectionId?: string;
  /** With a connection, the way through it. */
  mcp?: ConnectionWay;
  /** Made by somebody who is an admin here now. */
  isAdminMade: boolean;
}

type AccountTokens = NonNullable<HttpGrant["account"]>;

/** What a connector needs of people's connections to provider servers. */
export interface ConnectorConnections {
  /** Fails unless the connection is this person's own and active now. @throws ApiError `connector_config_invalid` */
  requireOwn(actor: Actor, connectionId: string, from?: Store): Promise<unknown>;
  /** What a source reads through it with, in its owner's name. */
  wayOf(workspaceId: string, connectionId: string): Promise<ConnectionWay>;
}

type ConnectionWay = NonNullable<SourceContext<unknown>["mcp"]>;

/** What a connector needs of people's accounts. */
export interface ConnectorAccounts {
  /**
   * The tokens of an account that this person may connect the source with.
   *
   * @throws ApiError `connector_config_invalid` when it is not theirs, of another provider, or to be connected again
   */
  own(actor: Actor, accountId: string, providerId: string): Promise<AccountTokens>;
  /** What a connector reads with. @throws ApiError `source_unauthorized` when the account is gone */
  tokensOf(workspaceId: string, accountId: string): Promise<AccountTokens>;
  /** Whose it is. */
  ownerOf(workspaceId: string, accountId: string): Promise<string | undefined>;
}

/** What connectors sign in with: sealed in the store, opened for their source and for nobody else. */
export type CredentialKeeper = ReturnType<typeof makeCredentialKeeper>;

/** Makes the keeper. */
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
    /** Whether who made the connector is an admin here now. */
    isAdminMade: (workspaceId: string, { createdBy }: Pick<ConnectorRecord, "createdBy">): Promise<boolean> =>
      isAdminMade(workspaceId, createdBy),
    /**
     * What a connector acts with; seals again what an older key has sealed.
     *
     * @throws ApiError `secret_unreadable`, `source_unauthorized` when its account is gone
     */
    async standingOf(
      workspaceId: string,
      {
        connectorId,
        createdBy,
        accountId,
        connectionId,
      }: Pick<ConnectorRecord, "connectorId" | "createdBy" | "accountId" | "connectionId">,
    ): Promise<Standing> {
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
    /** Who gave the stored ones, or whose the account is; undefined when there is neither. */
    async giverOf(
      workspaceId: string,
      { connectorId, accountId }: Pick<ConnectorRecord, "connectorId" | "accountId">,
    ): Promise<string | undefined> {
      if (accountId !== null) return accounts.ownerOf(workspaceId, accountId);
      return (await store.in(workspaceId).connectors.findCredentials(connectorId))?.givenBy;
    },
    /** Replaces the stored ones, in the transaction of its reason; none = they are deleted. */
    async keep(tx: Store, actor: Actor, connectorId: string, credentials: Credentials): Promise<void> {
      const { connectors } = tx.in(actor.workspaceId);
      await connectors.deleteCredentials(connectorId);
      if (Object.keys(credentials).length === 0) return;
      const sealed = vault.seal(placeOf(actor.workspaceId, connectorId), JSON.stringify(credentials));
      await connectors.addCredentials({ connectorId, sealed, givenBy: actor.userId, givenAt: now() });
    },
    /** Deletes the stored ones. */
    drop: (tx: Store, workspaceId: string, connectorId: string): Promise<void> =>
      tx.in(workspaceId).connectors.deleteCredentials(connectorId),
  };
}

/**
 * Credentials as the source's schema takes them; nothing given is nothing kept. No message repeats a value.
 *
 * @throws ApiError `connector_config_invalid` with the key at fault
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
 * What speaks for nobody's account is for admins, unless the source says otherwise.
 *
 * @throws ApiError `forbidden` when only an admin may connect this, so; `connector_config_invalid` when the source needs
 *   credentials and has none
 */
export function requireMayConnect(
  actor: Actor,
  source: Source,
  config: unknown,
  { credentials, account, connectionId }: Pick<Standing, "credentials" | "account" | "connectionId">,
): void {
  const hasCredentials = account !== undefined || connectionId !== undefined || Object.keys(credentials).length > 0;
  const { auth, name } = source.spec;
  const isNeeded = auth.every(({ type }) => type !== "none" && type !== "key");
  if (isNeeded && !hasCredentials) {
    const needed = NEEDED.find(({ type }) => auth.some((way) => way.type === type)) ?? NEEDED[1];
    throw new ApiError("connector_config_invalid", { message: `${name} needs ${needed.what}.`, field: needed.field });
  }
  if (actsAsAdmin(actor) || !isForAdmins(source, config, { hasCredentials })) return;
  throw new ApiError("forbidden", {
    message: `Only an admin can connect ${name} without credentials.`,
    hint: "Give your own credentials, or ask an admin.",
  });
}

/**
 * Whether only an admin may connect this source, so: what reads the server's own machine, what is pushed to, and mostly what
 * speaks for nobody's account. A config that this program can't read any more is judged by its credentials alone.
 */
export function isForAdmins(source: Source, config: unknown, { hasCredentials }: { hasCredentials: boolean }): boolean {
  const types = new Set(source.spec.auth.map(({ type }) => type));
  const isWithoutPeople = [...types].every((type) => type === "none" || type === "key");
  if (isWithoutPeople && !source.isForAdmins) return true;
  const parsed = source.spec.config.safeParse(config);
  if (source.isForAdmins && parsed.success) return source.isForAdmins(parsed.data, { hasCredentials });
  // Where it can't be connected without, what there was is gone, and its owner gives it again.
  return !hasCredentials && (types.has("none") || types.has("key"));
}

const NEEDED = [
  { type: "credentials", what: "credentials", field: "credentials" },
  { type: "account", what: "an account of yours", field: "accountId" },
  { type: "connection", what: "a connection of yours", field: "connectionId" },
] as const;

const Stored = z.record(z.string(), z.string());

function placeOf(workspaceId: string, connectorId: string): SealedPlace {
  return { table: "connector_credentials", row: [workspaceId, connectorId], column: "sealed" };
}
