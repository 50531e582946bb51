import { WORKSPACES } from "./people.ts";
import { table, words } from "./table.ts";

const { text, integer, instant, flag, json, oneOf, nullable, hidden } = words;

/** A failed step, by name and code. Responses are never stored. Source: S31. */
export interface ServerProblem {
  step: string;
  code: string;
}

/**
 * Where a connection signed in. Another issuer or token endpoint later means another authorization server. Source: S31.
 */
export interface ConnectionAuthorization {
  issuer: string;
  tokenEndpoint: string;
  revocationEndpoint?: string;
  resource: string;
  clientId: string;
  authMethod: "none" | "client_secret_post" | "client_secret_basic";
  /** Scopes that the server has requested since. */
  wanted?: string[];
}

/** Third-party MCP servers whose apps members connect. */
export const PROVIDER_SERVERS = table(
  "provider_servers",
  ["workspaceId", "serverId"],
  {
    serverId: text,
    name: text,
    /** Normalized; each URL has one server. */
    url: text,
    /** The name of the server's own app in paths, which doesn't change when the server is renamed. */
    slug: text,
    authKind: oneOf(["none", "bearer", "header", "oauth"]),
    headerName: nullable(text),
    /** The client id with which an admin registered kb at the server. */
    clientId: nullable(text),
    isEnabled: flag,
    connectPolicy: oneOf(["admins", "members"]),
    /** Slugs of the apps that members may connect; null = all. */
    apps: nullable(json<readonly string[]>()),
    /** How kb reads through the server's tools; null = it doesn't. */
    mapping: nullable(json<unknown>()),
    health: oneOf(["healthy", "degraded", "down", "unknown"]),
    checkedAt: nullable(instant),
    latencyMs: nullable(integer),
    /** The number of consecutive failures. */
    failures: integer,
    lastProblem: nullable(json<ServerProblem>()),
    /** Time of the next probe; null = the server is disabled. */
    dueAt: nullable(instant),
    /** The server's description of itself, cleaned. */
    serverInfo: nullable(json<{ name: string; title?: string | undefined; version: string }>()),
    protocolVersion: nullable(text),
    capabilities: nullable(json<Readonly<Record<string, boolean>>>()),
    createdAt: instant,
    createdBy: text,
    /** The authorization server of the client, from its first use on. Source: S31. */
    issuer: nullable(text),
    /** When and by which user the mapping was last set; null for a mapping that an earlier program stored. */
    mappedAt: nullable(instant),
    mappedBy: nullable(text),
    /** Suffix of the client's redirect URI; null = none, for a client that an earlier program stored. Source: S30. */
    callback: nullable(text),
  },
  { deletedWith: [WORKSPACES], unique: [["workspaceId", "url"]], indexes: { provider_servers_due: ["dueAt"] } },
);

/** The servers' own secrets. */
export const PROVIDER_SERVER_SECRETS = table(
  "provider_server_secrets",
  ["workspaceId", "serverId"],
  {
    serverId: text,
    sealed: text,
  },
  { deletedWith: [PROVIDER_SERVERS] },
);

/** People's connections to apps of servers. */
export const CONNECTIONS = table(
  "connections",
  ["workspaceId", "connectionId"],
  {
    connectionId: text,
    serverId: text,
    ownerUserId: text,
    app: text,
    name: text,
    /**
     * `server`: requests are signed with the server's own secret; `secret`: with a secret of the connection's owner.
     */
    way: oneOf(["none", "server", "secret", "oauth"]),
    status: oneOf(["pending", "active", "needs_reauth", "failed", "expired", "revoked"]),
    statusReason: nullable(text),
    visibility: oneOf(["private", "members", "workspace"]),
    memberIds: json<readonly string[]>(),
    groupIds: json<readonly string[]>(),
    /** The account at the provider; null = unknown. */
    accountId: nullable(text),
    accountLabel: nullable(text),
    scopes: json<readonly string[]>(),
    authorization: nullable(json<ConnectionAuthorization>()),
    /** For a `pending` connection: until when it can be finished. */
    pendingUntil: nullable(instant),
    lastUsedAt: nullable(instant),
    lastCheckedAt: nullable(instant),
    createdAt: instant,
    /** For each role, the tool to which its owner agreed, as it was mapped then; null = none. Source: S65. */
    agreed: nullable(json<unknown>()),
    /** The time at which its owner was asked to agree to the current mapping; null = the owner isn't asked. */
    waitingSince: nullable(instant),
  },
  {
    deletedWith: [PROVIDER_SERVERS],
    indexes: {
      connections_of_server: ["workspaceId", "serverId", "createdAt", "connectionId"],
      connections_pending: ["pendingUntil"],
    },
  },
);

/** The secrets with which a connection signs its requests. */
export const CONNECTION_SECRETS = table(
  "connection_secrets",
  ["workspaceId", "connectionId"],
  {
    connectionId: hidden(text),
    sealed: text,
    /** The version of the tokens, which rises with each new ones. */
    version: integer,
    expiresAt: nullable(instant),
    lockedBy: hidden(nullable(text)),
    lockedUntil: hidden(nullable(instant)),
  },
  { deletedWith: [CONNECTIONS] },
);
