/** Provider servers and their apps. Source: docs/provider-servers.md. */
import { nextCursor, PageQuery, Timestamp } from "./common.ts";
import { AppSlug, ConnectionId, Name, Secret, ServerId } from "./connections.ts";
import { MetadataFault } from "./metadata-fault.ts";
import { answer, del, get, patch, post, put, z } from "./route.ts";

/** A token of RFC 9110. */
const HeaderName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/, "Expected a header name such as X-Api-Key");

/**
 * How to sign in to the server. `secret` is the server's secret: `undefined` keeps the stored secret, null deletes it. With `oauth` each person signs
 * in at the provider; `clientId` and `secret` belong to a client that you registered there, if clients can't register themselves.
 */
export const ServerAuthBody = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("none") }),
  z.strictObject({ kind: z.literal("bearer"), secret: Secret.nullable().optional() }),
  z.strictObject({ kind: z.literal("header"), headerName: HeaderName, secret: Secret.nullable().optional() }),
  z.strictObject({
    kind: z.literal("oauth"),
    clientId: z.string().min(1).max(500).optional(),
    secret: Secret.nullable().optional(),
  }),
]);
export type ServerAuthBody = z.infer<typeof ServerAuthBody>;

const ServerUrl = z.string().min(1).max(2_000);
const ConnectPolicy = z.enum(["admins", "members"]);

export const ServerHealthStatus = z.enum(["healthy", "degraded", "down", "unknown"]);

/** The failure: a step and a code, never text from the server. */
export const ServerProblem = z
  .object({
    step: z.string(),
    /** A code from a closed list, such as `unreachable`, `auth_required`, `not_mcp`. */
    code: z.string(),
    message: z.string(),
    /** Present for `authorization_unusable`. */
    metadata: MetadataFault.optional(),
  })
  .openapi("ServerProblem");
export type ServerProblem = z.infer<typeof ServerProblem>;

const ServerSaid = {
  serverInfo: z.object({ name: z.string(), title: z.string().optional(), version: z.string() }).nullable(),
  /** The negotiated MCP revision. */
  protocolVersion: z.string().nullable(),
  capabilities: z
    .object({
      tools: z.boolean(),
      resources: z.boolean(),
      subscribe: z.boolean(),
      listChanged: z.boolean(),
      completions: z.boolean(),
    })
    .nullable(),
};

export const ProviderServer = z
  .object({
    id: ServerId,
    name: z.string(),
    url: z.string(),
    auth: z.object({
      kind: z.enum(["none", "bearer", "header", "oauth"]),
      /** Whether a secret for the server is stored here. The secret itself is never shown. */
      hasSecret: z.boolean(),
      headerName: z.string().optional(),
      /** For admins. */
      clientId: z.string().optional(),
      /** For admins, with `oauth`: the redirect URL to register with a client at the provider. It is known before a client exists. */
      redirectUrl: z.string().optional(),
    }),
    enabled: z.boolean(),
    connectPolicy: ConnectPolicy,
    /** The apps that can be connected; null = all. */
    apps: z.array(AppSlug).nullable(),
    health: z.object({ status: ServerHealthStatus, checkedAt: Timestamp.nullable() }),
    ...ServerSaid,
    /** For members, these numbers include only what they can see. */
    counts: z.object({ apps: z.int(), connections: z.int(), connectors: z.int() }),
    createdAt: Timestamp,
    createdBy: z.object({ id: z.string(), name: z.string() }),
  })
  .openapi("ProviderServer");
export type ProviderServer = z.infer<typeof ProviderServer>;

export const ServerTest = z
  .object({
    ok: z.boolean(),
    steps: z.array(
      z.object({
        step: z.enum(["resolve", "connect", "initialize", "auth", "tools", "resources"]),
        ok: z.boolean(),
        ms: z.int(),
        problem: ServerProblem.optional(),
      }),
    ),
    serverInfo: ServerSaid.serverInfo.unwrap().optional(),
    protocolVersion: z.string().optional(),
    capabilities: ServerSaid.capabilities.unwrap().optional(),
    /** Present when the server requires people to sign in. */
    authRequired: z
      .object({
        authorizationServers: z.array(z.string()),
        scopes: z.array(z.string()),
        /** True if clients can't register themselves: an admin then registers `kb` there and enters the client ID. */
        needsClient: z.boolean().optional(),
        /** Why no one can sign in there with OAuth. */
        problem: ServerProblem.optional(),
      })
      .optional(),
  })
  .openapi("ServerTest");
export type ServerTest = z.infer<typeof ServerTest>;

export const ServerHealthAnswer = z
  .object({
    status: ServerHealthStatus,
    checkedAt: Timestamp.nullable(),
    latencyMs: z.int().nullable(),
    consecutiveFailures: z.int(),
    lastProblem: ServerProblem.nullable(),
    nextCheckAt: Timestamp.nullable(),
    /** For members, these numbers include only connections that they can see. */
    connections: z.object({ active: z.int(), needsReauth: z.int(), failed: z.int() }),
  })
  .openapi("ServerHealth");

export const ServerApp = z
  .object({
    slug: AppSlug,
    name: z.string(),
    description: z.string(),
    /** Always null: icons of other servers aren't loaded. */
    iconUrl: z.string().nullable(),
    categories: z.array(z.string()),
    auth: z.array(z.enum(["oauth", "api_key", "none"])),
    /** JSON Schema of `credentials`; absent when there is nothing to fill in. */
    fields: z.record(z.string(), z.unknown()).optional(),
    /** The content that can be read through it. */
    content: z.object({ resources: z.boolean(), search: z.boolean(), fetch: z.boolean() }),
    connected: z.object({ mine: z.int(), shared: z.int() }),
  })
  .openapi("ServerApp");
export type ServerApp = z.infer<typeof ServerApp>;

/** The roles that a tool can have in reading a server. */
export const MAPPING_ROLES = ["list", "search", "fetch"] as const;
export type MappingRole = (typeof MAPPING_ROLES)[number];

const ToolArgument = z.string().min(1).max(128);

/** One tool in one role, as an admin maps it. */
export const MappedTool = z.strictObject({
  tool: ToolArgument,
  /** Arguments that have the same value in every call. */
  args: z
    .record(ToolArgument, z.union([z.string().max(2_000), z.number(), z.boolean()]))
    .refine((values) => Object.keys(values).length <= 20, "Give at most 20 arguments.")
    .default({}),
  /** The argument for the query (`search`), the ID (`fetch`) or the cursor (`list`, if it has pages). */
  argument: ToolArgument.optional(),
});
export type MappedTool = z.infer<typeof MappedTool>;

/** The tools with which `kb` reads a server. */
export const MappingBody = z.strictObject({
  list: MappedTool.optional(),
  search: MappedTool.optional(),
  fetch: MappedTool.optional(),
});
export type MappingBody = z.infer<typeof MappingBody>;

/** Why a mapped tool can't be used. */
export const MappingFault = z
  .object({
    role: z.enum(MAPPING_ROLES),
    tool: z.string(),
    reason: z.enum(["tool_gone", "tool_changed", "argument_missing", "argument_unknown"]),
  })
  .openapi("MappingFault");
export type MappingFault = z.infer<typeof MappingFault>;

const shownTool = z.object({
  tool: z.string(),
  args: z.record(z.string(), z.unknown()),
  argument: z.string().optional(),
});

export const ServerTools = z
  .object({
    tools: z.array(
      z.object({
        name: z.string(),
        title: z.string().optional(),
        description: z.string().optional(),
        /** The server's own declaration; only a hint. */
        isReadOnly: z.boolean(),
        arguments: z.array(
          z.object({
            name: z.string(),
            type: z.string().optional(),
            description: z.string().optional(),
            isRequired: z.boolean(),
            values: z.array(z.string()).optional(),
          }),
        ),
      }),
    ),
    /** Number of tools that are malformed, too large, or have indistinguishable names. */
    leftOut: z.int(),
    mapping: z
      .object({ list: shownTool.optional(), search: shownTool.optional(), fetch: shownTool.optional() })
      .nullable(),
    /** If there is a fault, the mapping isn't used until it is stored again. */
    faults: z.array(MappingFault),
  })
  .openapi("ServerTools");
export type ServerTools = z.infer<typeof ServerTools>;

export const PreviewBody = MappedTool.extend({
  role: z.enum(MAPPING_ROLES),
  /** The query, ID or cursor to test with. */
  value: z.string().max(2_000).optional(),
  connectionId: ConnectionId.optional(),
});
export type PreviewBody = z.infer<typeof PreviewBody>;

export const MappingPreview = z
  .object({
    entries: z
      .array(
        z.object({
          id: z.string(),
          title: z.string(),
          text: z.string().optional(),
          url: z.string().optional(),
          mimeType: z.string().optional(),
          updatedAt: Timestamp.optional(),
        }),
      )
      .optional(),
    text: z.string().optional(),
  })
  .openapi("MappingPreview");
export type MappingPreview = z.infer<typeof MappingPreview>;

const server = { params: { id: ServerId } };
const tested = answer("Each step of the test and its result; the status is 200 even if a step failed", ServerTest);

export const providerServerRoutes = {
  list: get("/api/mcp-servers", "List the MCP servers whose apps can be connected", {
    query: PageQuery,
    200: answer("A page, oldest first", { servers: z.array(ProviderServer), nextCursor }),
    problems: ["invalid_cursor"],
  }),
  create: post("/api/mcp-servers", "Add an MCP server; it is tested first", {
    body: z.strictObject({
      name: Name,
      url: ServerUrl,
      auth: ServerAuthBody,
      enabled: z.boolean().optional(),
      connectPolicy: ConnectPolicy.optional(),
      apps: z.array(AppSlug).max(200).nullable().optional(),
      /** Stores the mapping even if its test fails. */
      force: z.boolean().optional(),
    }),
    201: answer("The server, and its test", { server: ProviderServer, test: ServerTest }),
    problems: ["server_exists", "server_check_failed", "server_config_invalid", "rate_limited"],
  }),
  update: patch(
    "/api/mcp-servers/{id}",
    "Change an MCP server; its secrets are deleted if the scheme, host or port changes, or the path to one that isn't below the old path",
    {
      ...server,
      body: z.strictObject({
        name: Name.optional(),
        url: ServerUrl.optional(),
        auth: ServerAuthBody.optional(),
        enabled: z.boolean().optional(),
        connectPolicy: ConnectPolicy.optional(),
        apps: z.array(AppSlug).max(200).nullable().optional(),
      }),
      200: answer("The server", { server: ProviderServer }),
      problems: ["server_exists", "server_has_connections", "server_config_invalid"],
    },
  ),
  remove: del(
    "/api/mcp-servers/{id}",
    "Delete an MCP server: its connections are revoked, and what was read through them is deleted",
    {
      ...server,
      202: answer("The deleted server", { server: ProviderServer }),
    },
  ),
  testUnsaved: post("/api/mcp-servers/connection-tests", "Test an MCP server that isn't stored; nothing is stored", {
    body: z.strictObject({ url: ServerUrl, auth: ServerAuthBody }),
    200: tested,
    problems: ["server_config_invalid", "rate_limited"],
  }),
  test: post(
    "/api/mcp-servers/{id}/connection-tests",
    "Test an MCP server as it is stored, or one of your connections to it",
    {
      ...server,
      body: z.strictObject({ connectionId: ConnectionId.optional() }),
      200: tested,
      problems: ["rate_limited", "server_disabled"],
    },
  ),
  tools: get(
    "/api/mcp-servers/{id}/tools",
    "List the tools of an MCP server, and how they are mapped; asks the server",
    {
      ...server,
      query: { connectionId: ConnectionId.optional() },
      200: answer("The tools that the server has now", ServerTools),
      problems: ["server_check_failed", "rate_limited", "server_disabled"],
    },
  ),
  preview: post(
    "/api/mcp-servers/{id}/mapping/previews",
    "Call a tool once and show what a sync would read from its result; nothing is stored",
    {
      ...server,
      body: PreviewBody,
      200: answer("What a sync would read", MappingPreview),
      problems: ["server_check_failed", "rate_limited", "server_disabled"],
    },
  ),
  map: put(
    "/api/mcp-servers/{id}/mapping",
    "Choose what `kb` uses each tool for, and pin the current definitions of the tools; null removes a mapping",
    {
      ...server,
      body: z.strictObject({ mapping: MappingBody.nullable(), connectionId: ConnectionId.optional() }),
      200: answer("The tools with their mapping", ServerTools),
      problems: ["server_config_invalid", "server_check_failed", "rate_limited", "server_disabled"],
    },
  ),
  health: get("/api/mcp-servers/{id}/health", "Get the health of an MCP server as of its last probe", {
    ...server,
    200: answer("The health at the last probe", ServerHealthAnswer),
  }),
  apps: get("/api/mcp-servers/{id}/apps", "List the apps that can be connected through an MCP server", {
    ...server,
    query: PageQuery.extend({ q: z.string().max(200).optional() }),
    200: answer("A page", { apps: z.array(ServerApp), nextCursor }),
    problems: ["invalid_cursor"],
  }),
};
