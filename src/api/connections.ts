/**
 * People's connections to apps of provider servers, how to create one in a browser, and who may use which. Source:
 * docs/provider-servers.md.
 */
import { idSchema, nextCursor, PageQuery, ProviderReturn, ReturnTo, Timestamp } from "./common.ts";
import { answer, del, get, patch, post, z } from "./route.ts";

export const ServerId = idSchema("server");
export const ConnectionId = idSchema("connection");
export const AppSlug = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "Expected an app such as notes");
export const Name = z.string().trim().min(1).max(100);
export const Secret = z.string().min(1).max(8_192);
/** The secret in a URL that works once. */
const OneTime = z.string().min(1).max(200);

export const ConnectionAccess = z.strictObject({
  visibility: z.enum(["private", "members", "workspace"]),
  memberIds: z.array(idSchema("user")).max(500).default([]),
  groupIds: z.array(idSchema("group")).max(500).default([]),
});
export type ConnectionAccess = z.infer<typeof ConnectionAccess>;

/** A tool that kb calls with a connection, as mapped by an admin. */
export const ConnectionTool = z
  .object({
    role: z.enum(["list", "search", "fetch"]),
    tool: z.string(),
    /** Arguments sent with every call. */
    args: z.record(z.string(), z.unknown()),
    /** The argument for the query, the ID or the cursor. */
    argument: z.string().optional(),
    /** Whether the tool's server declares it read-only; null if an earlier version mapped it. */
    isReadOnly: z.boolean().nullable(),
    /** Whether the connection's owner has agreed to the tool. */
    isAgreed: z.boolean(),
  })
  .openapi("ConnectionTool");
export type ConnectionTool = z.infer<typeof ConnectionTool>;

export const Connection = z
  .object({
    id: ConnectionId,
    serverId: ServerId,
    app: AppSlug,
    name: z.string(),
    /** The account at the provider; null if the provider doesn't report it, or you may not see it. */
    account: z.object({ id: z.string(), label: z.string() }).nullable(),
    owner: z.object({ id: z.string(), name: z.string() }),
    /** Whether you own the connection. Only its owner can build connectors on it. */
    isMine: z.boolean(),
    /** `needs_agreement`: an admin has changed the mapping of the server's tools, and nothing is read until the connection's owner agrees. */
    status: z.enum([
      "pending",
      "active",
      "needs_agreement",
      "needs_reauth",
      "failed",
      "expired",
      "disabled",
      "revoked",
    ]),
    statusReason: z.string().nullable(),
    /** Who may see what the owner sees through the connection. Members and groups are visible to its owner and to admins. */
    access: z.object({
      visibility: z.enum(["private", "members", "workspace"]),
      memberIds: z.array(z.string()),
      groupIds: z.array(z.string()),
    }),
    scopes: z.array(z.string()),
    /**
     * The page that the server requires its owner to open first, while `statusReason` is `elicitation_required`; only
     * for its owner.
     */
    elicitation: z.object({ host: z.string() }).nullable(),
    /** The calls that kb makes with the connection; only for its owner. */
    tools: z.array(ConnectionTool),
    /** Present while the owner has to agree: the value that the owner sends to agree to exactly these tools. Only for its owner. */
    agreement: z.string().nullable(),
    /** When a pending connection can no longer be finished, or its token expires. Tokens are renewed before that. */
    expiresAt: Timestamp.nullable(),
    lastUsedAt: Timestamp.nullable(),
    lastCheckedAt: Timestamp.nullable(),
    createdAt: Timestamp,
  })
  .openapi("Connection");
export type Connection = z.infer<typeof Connection>;

export const ConnectionIntent = z
  .object({
    id: idSchema("intent"),
    /** The connection whose status shows the outcome of the intent. */
    connectionId: ConnectionId,
    status: z.literal("pending"),
    /** A page of this server, to be opened in a browser in which you are signed in. It works once. */
    redirectUrl: z.string(),
    expiresAt: Timestamp,
  })
  .openapi("ConnectionIntent");
export type ConnectionIntent = z.infer<typeof ConnectionIntent>;

/** The content of the page that is shown before a person is sent to the provider. */
export const OpenedIntent = z
  .object({
    id: idSchema("intent"),
    /** `sign_in`: OAuth. `elicitation`: a page that the server requires the person to open; it has no callback. */
    kind: z.enum(["sign_in", "elicitation"]),
    serverId: ServerId,
    serverName: z.string(),
    /** Host of the server. */
    serverHost: z.string(),
    /** The host that the click opens. */
    opensHost: z.string(),
    app: AppSlug,
    name: z.string(),
    scopes: z.array(z.string()),
    isReconnect: z.boolean(),
    returnTo: z.string(),
    expiresAt: Timestamp,
  })
  .openapi("OpenedIntent");
export type OpenedIntent = z.infer<typeof OpenedIntent>;

/** The account found at the provider, shown before the connection is stored. */
export const FoundConnection = z
  .object({
    serverId: ServerId,
    serverName: z.string(),
    serverHost: z.string(),
    /** Null if the provider doesn't report it. */
    account: z.object({ id: z.string(), label: z.string() }).nullable(),
    scopes: z.array(z.string()),
    /** True if you wanted to reconnect a connection but its account can't be compared with this one; a new connection is created instead. */
    isNewInstead: z.boolean(),
    access: z.object({ visibility: z.enum(["private", "members", "workspace"]) }),
  })
  .openapi("FoundConnection");
export type FoundConnection = z.infer<typeof FoundConnection>;

const server = { params: { id: ServerId } };
const connection = { params: { id: ServerId, connectionId: ConnectionId } };

export const connectionRoutes = {
  connect: post("/api/mcp-servers/{id}/connections", "Connect an app that needs no browser", {
    ...server,
    body: z.strictObject({
      app: AppSlug,
      name: Name.optional(),
      /** According to the app's `fields`. */
      credentials: z.strictObject({ token: Secret }).optional(),
      access: ConnectionAccess.optional(),
    }),
    201: answer("The connection", { connection: Connection }),
    problems: [
      "app_unknown",
      "intent_required",
      "connection_failed",
      "server_disabled",
      "unknown_member",
      "unknown_group",
      "rate_limited",
    ],
  }),
  intend: post("/api/mcp-servers/{id}/connections/intents", "Start connecting an app in a browser", {
    ...server,
    body: z.strictObject({
      app: AppSlug,
      name: Name.optional(),
      access: ConnectionAccess.optional(),
      /** A page of this server, to which the person returns with `?intent=…&status=connected|failed|cancelled`. */
      returnTo: ReturnTo.optional(),
      /**
       * The connection to reconnect, or whose server requires a page to be opened. Signing in with a different account of the provider is refused.
       */
      reconnect: ConnectionId.optional(),
    }),
    201: answer("The address to open", { intent: ConnectionIntent }),
    problems: [
      "app_unknown",
      "intent_not_needed",
      "connection_failed",
      "server_disabled",
      "unknown_member",
      "unknown_group",
      "rate_limited",
    ],
  }),
  connections: get(
    "/api/mcp-servers/{id}/connections",
    "List your connections to an MCP server and those shared with you; admins see all of them",
    {
      ...server,
      query: PageQuery,
      200: answer("A page, oldest first", { connections: z.array(Connection), nextCursor }),
      problems: ["invalid_cursor"],
    },
  ),
  disconnect: del(
    "/api/mcp-servers/{id}/connections/{connectionId}",
    "Disconnect: the tokens are revoked, and what was read through the connection is deleted",
    {
      ...connection,
      202: answer("The updated connection", { connection: Connection }),
    },
  ),
  access: patch(
    "/api/mcp-servers/{id}/connections/{connectionId}/access",
    "Set who can see what a connection reads; admins can only reduce its access",
    {
      ...connection,
      body: ConnectionAccess,
      200: answer("The connection", { connection: Connection, warnings: z.array(z.string()).optional() }),
      problems: ["unknown_member", "unknown_group"],
    },
  ),
  agree: post(
    "/api/mcp-servers/{id}/connections/{connectionId}/agreement",
    "Agree to the tools that kb calls with your connection; `agreement` identifies the tools that you were shown",
    {
      ...connection,
      body: z.strictObject({ agreement: z.string().min(1).max(100) }),
      200: answer("The connection", { connection: Connection }),
      problems: ["forbidden", "conflict"],
    },
  ),
};

/** Routes for the page at an intent's `redirectUrl`. A different browser or person is refused. Source: S30. */
export const connectionIntentRoutes = {
  read: post("/api/mcp-servers/intents/read", "Get the connection that an intent would make", {
    body: z.strictObject({ intent: OneTime }),
    200: answer("The connection that the intent would make", { intent: OpenedIntent }),
    problems: ["link_invalid", "forbidden"],
  }),
  open: post(
    "/api/mcp-servers/intents/open",
    "Use an intent; returns the address at the provider to open in this browser",
    {
      body: z.strictObject({ intent: OneTime }),
      200: answer("The address of the provider's page", { url: z.string() }),
      problems: ["link_invalid", "forbidden", "connection_failed", "source_unavailable", "server_disabled"],
    },
  ),
  callback: get(
    "/api/mcp-servers/callback",
    "Return from a provider where an admin registered kb with the redirect URL of earlier versions",
    {
      query: ProviderReturn,
      302: { description: "Redirect to a page of this server" },
    },
  ),
  callbackOf: get("/api/mcp-servers/callback/{client}", "Return from a provider to the redirect URL of one server", {
    params: { client: z.string().max(50) },
    query: ProviderReturn,
    302: { description: "Redirect to a page of this server" },
  }),
  found: post("/api/mcp-servers/intents/found", "Get the person found at the provider, before you connect", {
    body: z.strictObject({ id: OneTime }),
    200: answer("The person found at the provider", { found: FoundConnection }),
    problems: ["link_invalid"],
  }),
  confirm: post("/api/mcp-servers/intents/confirm", "Confirm or reject the person found at the provider", {
    body: z.strictObject({ id: OneTime, isAccepted: z.boolean() }),
    200: answer("The connection, and the address to continue at", {
      connection: z.union([Connection, z.null()]),
      returnTo: z.string(),
    }),
    problems: ["link_invalid", "connection_failed", "server_disabled"],
  }),
  client: get("/oauth/clients/mcp.json", "Get this server's client metadata document, for authorization servers", {
    200: answer("Client metadata (RFC 7591)", z.record(z.string(), z.unknown())),
  }),
};
