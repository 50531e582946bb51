/**
 * Routes that other standards define and the document includes: MCP and the authorization server. Their own code mounts them, and their failures have
 * the form of their standard, while `/api` answers with problems.
 */
import { ProblemBody } from "./common.ts";
import { OWN_CODES, get, post, z } from "./route.ts";
import type { ErrorCode } from "./errors.ts";

const RpcId = z.union([z.string(), z.number(), z.null()]);

/** A JSON-RPC 2.0 request or notification. */
const RpcRequest = z
  .looseObject({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.number()]).optional(),
    method: z.string(),
    params: z.looseObject({}).optional(),
  })
  .openapi("RpcRequest");

const RpcError = z.object({
  code: z.number().int(),
  message: z.string(),
  data: z.looseObject({ code: z.string().optional(), requestId: z.string().optional() }).optional(),
});

const RpcAnswer = z
  .object({ jsonrpc: z.literal("2.0"), id: RpcId, result: z.looseObject({}).optional(), error: RpcError.optional() })
  .openapi("RpcAnswer");

/** RFC 6749 §5.2. */
const OAuthError = z.looseObject({ error: z.string(), error_description: z.string().optional() }).openapi("OAuthError");

/** RFC 8414 and RFC 9728: the published metadata; clients use the members they know. */
const Metadata = z.looseObject({}).openapi("Metadata");

function answers<T extends z.ZodType>(schema: T) {
  return { "application/json": { schema } } as const;
}

function rpcProblems(...codes: ErrorCode[]) {
  return {
    description: "JSON-RPC error; `error.data.code` says which",
    content: answers(RpcAnswer),
    [OWN_CODES]: codes,
  };
}

/** The endpoint answers as OAuth requires. A request rejected before that (Host, too many requests) gets a problem. */
function oauthProblems(...codes: ErrorCode[]) {
  return {
    description: "OAuth error",
    content: { ...answers(OAuthError), "application/problem+json": { schema: ProblemBody } },
    [OWN_CODES]: codes,
  };
}

/** The failures of routes that a person's browser may open: a page about the failure, or the error for a program. */
function browserProblems(...codes: ErrorCode[]) {
  const { content, ...rest } = oauthProblems(...codes);
  return { ...rest, content: { ...content, "text/html": { schema: z.string() } } };
}

function form<T extends z.ZodType>(schema: T) {
  return { required: true, content: { "application/x-www-form-urlencoded": { schema } } } as const;
}

export const mcpRoutes = {
  call: post("/mcp", "The MCP endpoint (Streamable HTTP, stateless): tools/list and tools/call", {
    body: z.union([RpcRequest, z.array(RpcRequest).min(1).max(20)]),
    200: {
      description: "The response; for a call with a progress token, a stream of events that ends with it",
      content: {
        ...answers(z.union([RpcAnswer, z.array(RpcAnswer)])),
        "text/event-stream": { schema: z.string() },
      },
    },
    202: { description: "The body had only notifications, so there is no response" },
    // Answered to an unknown method since the newest revision.
    default: rpcProblems("not_found"),
  }),
};

const published = <P extends string>(path: P, summary: string) =>
  get(path, summary, {
    200: { description: "The metadata", content: answers(Metadata) },
    default: oauthProblems(),
  });

export const metadataRoutes = {
  server: published("/.well-known/oauth-authorization-server", "Metadata of the authorization server (RFC 8414)"),
  openid: published(
    "/.well-known/openid-configuration",
    "The same metadata, at the path where OpenID Connect clients look for it",
  ),
  resource: published("/.well-known/oauth-protected-resource", "Metadata of /mcp as a protected resource (RFC 9728)"),
  resourceOfMcp: published(
    "/.well-known/oauth-protected-resource/mcp",
    "The same metadata, at the path of the resource",
  ),
};

const token = z.string().max(5_000);

export const authorizationRoutes = {
  register: post("/oauth/register", "Register a client (RFC 7591)", {
    body: z.looseObject({
      redirect_uris: z.array(z.string().max(2_000)).min(1).max(20),
      client_name: z.string().optional(),
    }),
    201: { description: "The client", content: answers(z.looseObject({ client_id: z.string() })) },
    default: oauthProblems(),
  }),
  authorize: get("/oauth/authorize", "Ask a person to allow a client (RFC 6749, PKCE)", {
    query: z.looseObject({
      client_id: z.string(),
      response_type: z.literal("code"),
      redirect_uri: z.string().max(2_000),
      code_challenge: z.string().min(43).max(128),
      code_challenge_method: z.literal("S256"),
      scope: z.string().optional(),
      state: z.string().optional(),
      resource: z.string().optional(),
    }),
    302: { description: "Redirect to the page that asks the person" },
    303: { description: "Redirect back to the client with an error" },
    default: browserProblems("two_credentials"),
  }),
  decide: post("/oauth/authorize", "Submit a decision; without a decision, this is the same as GET", {
    body: {
      required: true,
      content: {
        "application/x-www-form-urlencoded": { schema: z.looseObject({}) },
        "application/json": { schema: z.looseObject({}) },
      },
    },
    200: { description: "Where to go next (JSON)", content: answers(z.object({ redirectTo: z.string() })) },
    303: { description: "Redirect back to the client, or on to GET" },
    default: browserProblems("unauthenticated", "two_credentials", "consent_invalid", "password_needed"),
  }),
  resume: get("/oauth/authorize/{uid}", "Continue after the decision", {
    params: { uid: z.string().max(100) },
    303: { description: "Redirect back to the client" },
    default: browserProblems(),
  }),
  token: post("/oauth/token", "Exchange a code, refresh a token, or poll for a device (RFC 6749, RFC 8628)", {
    body: form(
      z.looseObject({
        grant_type: z.enum(["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"]),
        client_id: z.string(),
        code: token.optional(),
        code_verifier: z.string().optional(),
        redirect_uri: z.string().optional(),
        refresh_token: token.optional(),
        device_code: token.optional(),
        resource: z.string().optional(),
        scope: z.string().optional(),
      }),
    ),
    200: {
      description: "The tokens",
      content: answers(z.looseObject({ access_token: z.string(), token_type: z.string(), expires_in: z.number() })),
    },
    default: oauthProblems("unauthenticated"),
  }),
  revoke: post("/oauth/revoke", "Revoke a token (RFC 7009); an unknown token is not an error", {
    body: form(z.looseObject({ token, client_id: z.string(), token_type_hint: z.string().optional() })),
    200: { description: "The token no longer works" },
    default: oauthProblems("unauthenticated"),
  }),
  device: post("/oauth/device_authorization", "Start the sign-in of a device without a browser (RFC 8628)", {
    body: form(z.looseObject({ client_id: z.string(), scope: z.string().optional() })),
    200: {
      description: "The codes",
      content: answers(z.looseObject({ device_code: z.string(), user_code: z.string(), verification_uri: z.string() })),
    },
    default: oauthProblems("unauthenticated"),
  }),
  keys: get("/oauth/jwks", "Keys of the authorization server (RFC 7517)", {
    200: {
      description: "The keys",
      content: { "application/jwk-set+json": { schema: z.looseObject({ keys: z.array(z.looseObject({})) }) } },
    },
    default: oauthProblems(),
  }),
};

/** The routes that come after `ROUTE_GROUPS` in the document. */
export const PROTOCOL_ROUTES = {
  mcp: mcpRoutes,
  metadata: metadataRoutes,
  authorization: authorizationRoutes,
} as const;
