import { tryJson } from "#core/json-record.ts";
import { createHash } from "node:crypto";
import { z } from "zod";
import { cleanLine, MAX_CHARS } from "#api/clean.ts";
import { ApiError } from "#api/errors.ts";
import type { McpAuthorization } from "#mcp-client/authorization.ts";
import type { McpChallenge } from "#mcp-client/problem.ts";
import { challengeOf } from "#server/accounts/address.ts";
import { asClient, type GrantedTokens, makeTokenEndpoint } from "#server/accounts/token-endpoint.ts";
import { timeLimit } from "#server/accounts/time-limit.ts";
import type { SourceHttpPool } from "#sources/http/pool.ts";
import type { ConnectionAuthorization } from "#storage/records/connections.ts";
import type { ConnectionSecrets } from "./secrets.ts";

/** Discovers how to sign in at a server. @throws McpProblem */
export type Discover = (url: string, challenge: McpChallenge, signal: AbortSignal) => Promise<McpAuthorization>;

export type ProviderOAuth = ReturnType<typeof makeProviderOAuth>;

/** kb's client registration at an authorization server. */
export interface RegisteredClient {
  authorization: ConnectionAuthorization;
  clientSecret?: string | undefined;
  /** Last segment of the callback's path. Absent for a client that an admin entered in an earlier version. */
  callback?: string | undefined;
}

/** The account at an authorization server, if the server identifies it. */
export interface ProvenAccount {
  id: string;
  label: string;
}

/** Makes kb's OAuth client for provider servers. Source: RFC 6749, RFC 7009, RFC 7591, RFC 7636, RFC 8707. */
export function makeProviderOAuth({
  http: pool,
  baseUrl,
  authorizationServers = [],
  askMs = ASK_MS,
  now,
}: {
  http: Pick<SourceHttpPool, "for">;
  baseUrl: string;
  /** Addresses that the operator allows in the metadata of every server, as `https://host:port`. Source: S66. */
  authorizationServers?: readonly string[];
  /** Time limit of a request to an authorization server, in milliseconds; 20 s by default. */
  askMs?: number;
  now(): number;
}) {
  const redirectUrlOf = ({ callback }: Pick<RegisteredClient, "callback">) =>
    `${baseUrl}/api/mcp-servers/callback${callback === undefined ? "" : `/${callback}`}`;
  // The client ID is the URL of the metadata document, which must have https.
  const hasDocument = baseUrl.startsWith("https:");
  // An address in a server's metadata is allowed if it is public, has the server's own host and port, or is on the
  // operator's list.
  const httpFor = ({ resource, tokenEndpoint }: Pick<McpAuthorization, "resource" | "tokenEndpoint">) =>
    pool.for({
      source: {
        originOf: () => new URL(resource).origin,
        spec: { auth: [{ type: "none" }], origins: authorizationServers },
      },
      config: {},
      credentials: {},
      signal: timeLimit(new URL(tokenEndpoint).host, askMs),
    }).http;
  const clientOf = ({ authorization, clientSecret }: RegisteredClient) => ({
    client: { clientId: authorization.clientId, clientSecret },
    usesBasic: authorization.authMethod === "client_secret_basic",
  });

  function endpointOf(client: RegisteredClient) {
    const { tokenEndpoint, resource } = client.authorization;
    return makeTokenEndpoint(httpFor(client.authorization), {
      name: new URL(tokenEndpoint).host,
      tokenUrl: tokenEndpoint,
      ...clientOf(client),
      parameters: { resource },
      now,
    });
  }

  function metadataFor(authMethod: string, callback: string) {
    return {
      client_name: "kb",
      client_uri: baseUrl,
      redirect_uris: [redirectUrlOf({ callback })],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: authMethod,
      // A loopback address belongs to an app on the person's own machine. Source: RFC 8252 §8.4.
      ...(!baseUrl.startsWith("https:") && { application_type: "native" }),
    };
  }

  async function registerSelf(found: McpAuthorization, url: string): Promise<z.infer<typeof Registered>> {
    const wanted = AUTH_METHODS.find((method) => found.tokenAuthMethods.includes(method)) ?? "none";
    try {
      const answer = await httpFor(found).request({
        method: "POST",
        url,
        json: {
          ...metadataFor(wanted, callbackOf(found)),
          ...(found.scopes.length > 0 && { scope: found.scopes.join(" ") }),
        },
        redirect: "none",
        isIdempotent: false,
      });
      return answer.json(Registered);
    } catch (cause) {
      throw notRegistered("registration_refused", "The authorization server did not register kb as a client.", cause);
    }
  }

  return {
    /** The redirect URL that an admin registers at an authorization server. */
    redirectUrlOf,

    /** Whether only an admin can register kb there. */
    needsClient: ({ registrationEndpoint, supportsCimd }: McpAuthorization): boolean =>
      registrationEndpoint === undefined && !(supportsCimd && hasDocument),

    /**
     * Returns the client that an admin registered. Without one, registers a client. If that is unsupported, uses a
     * metadata document of this server. The document is the last choice because the authorization server has to be able
     * to reach this server, which registration doesn't need.
     *
     * @throws ApiError `connection_failed`
     */
    async register(
      found: McpAuthorization,
      own: { clientId: string | null; secret: string | undefined; callback: string | null },
    ): Promise<RegisteredClient> {
      const { issuer, tokenEndpoint, revocationEndpoint, resource, registrationEndpoint, tokenAuthMethods } = found;
      const pinned = {
        issuer,
        tokenEndpoint,
        resource,
        ...(revocationEndpoint !== undefined && { revocationEndpoint }),
      };
      const asWhom = (clientId: string, clientSecret: string | undefined, method?: AuthMethod): RegisteredClient => {
        const usual = tokenAuthMethods.includes("client_secret_post") ? "client_secret_post" : "client_secret_basic";
        const authMethod = clientSecret === undefined ? "none" : method === "none" ? usual : (method ?? usual);
        return { authorization: { ...pinned, clientId, authMethod }, clientSecret };
      };
      if (own.clientId !== null) return { ...asWhom(own.clientId, own.secret), callback: own.callback ?? undefined };
      if (registrationEndpoint !== undefined) {
        const registered = await registerSelf(found, registrationEndpoint);
        const client = asWhom(registered.client_id, registered.client_secret, registered.token_endpoint_auth_method);
        return { ...client, callback: callbackOf(found) };
      }
      if (found.supportsCimd && hasDocument)
        return { ...asWhom(`${baseUrl}${CLIENT_DOCUMENT}`, undefined), callback: DOCUMENT_CALLBACK };
      throw notRegistered(
        "registration_not_supported",
        "The authorization server doesn't let clients register themselves.",
      );
    },

    /** The document that an authorization server reads if kb's client ID is the document's URL. */
    clientDocument: () => ({ client_id: `${baseUrl}${CLIENT_DOCUMENT}`, ...metadataFor("none", DOCUMENT_CALLBACK) }),

    /** Returns the address of the authorization server's page for this flow. */
    addressOf(
      { authorizationEndpoint }: Pick<McpAuthorization, "authorizationEndpoint">,
      client: RegisteredClient,
      { scopes, state, verifier }: { scopes: readonly string[]; state: string; verifier: string },
    ): string {
      const url = new URL(authorizationEndpoint);
      const { authorization } = client;
      const parameters = {
        response_type: "code",
        client_id: authorization.clientId,
        redirect_uri: redirectUrlOf(client),
        ...(scopes.length > 0 && { scope: scopes.join(" ") }),
        state,
        resource: authorization.resource,
        ...challengeOf(verifier),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url.href;
    },

    /** @throws GrantRefused; ApiError `source_unavailable` */
    redeem: (client: RegisteredClient, code: string, verifier: string): Promise<GrantedTokens> =>
      endpointOf(client).redeem(code, { verifier, redirectUrl: redirectUrlOf(client) }),

    /** Uses only the pinned token endpoint. @throws GrantRefused; ApiError `source_unavailable` */
    refresh: (client: RegisteredClient, secrets: { token: string; refreshToken: string }): Promise<GrantedTokens> =>
      endpointOf(client).refresh({ accessToken: secrets.token, refreshToken: secrets.refreshToken }),

    /** Revokes tokens at the authorization server. @returns false if it can't be reached or doesn't support it */
    async revoke(client: RegisteredClient, { token, refreshToken }: ConnectionSecrets): Promise<boolean> {
      const { revocationEndpoint } = client.authorization;
      if (revocationEndpoint === undefined) return false;
      const { form, headers } = asClient(clientOf(client));
      const hint = refreshToken === undefined ? "access_token" : "refresh_token";
      const body = new URLSearchParams({ token: refreshToken ?? token, token_type_hint: hint, ...form });
      return httpFor(client.authorization)
        .request({
          method: "POST",
          url: revocationEndpoint,
          headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
          body: body.toString(),
          redirect: "none",
        })
        .then(
          () => true,
          () => false,
        );
    },

    /**
     * Returns the account in an ID token. The token came directly from the token endpoint, so its signature adds
     * nothing (OpenID Connect Core §3.1.3.7). Its issuer and audience must match this client. Undefined if the token is
     * absent or invalid.
     */
    accountOf({ authorization }: RegisteredClient, idToken: string | undefined): ProvenAccount | undefined {
      const [, payload, signature] = idToken?.split(".") ?? [];
      if (payload === undefined || signature === undefined) return undefined;
      const claims = Claims.safeParse(tryJson(Buffer.from(payload, "base64url").toString("utf8"))).data;
      if (!claims || claims.iss !== authorization.issuer) return undefined;
      if (![claims.aud].flat().includes(authorization.clientId)) return undefined;
      if (claims.exp * 1_000 <= now()) return undefined;
      const label = claims.email ?? claims.preferred_username ?? claims.name ?? claims.sub;
      return { id: claims.sub, label: cleanLine(label, MAX_CHARS.label) };
    },
  };
}

/** Path of the metadata document of this server's client. */
const CLIENT_DOCUMENT = "/oauth/clients/mcp.json";
/** The document is the same for every authorization server, and so is its redirect address. */
const DOCUMENT_CALLBACK = "document";

/**
 * Each authorization server has its own callback. A response that arrives at another one belongs to another request.
 * Source: S30.
 */
function callbackOf({ issuer }: Pick<McpAuthorization, "issuer">): string {
  return createHash("sha256").update(issuer).digest("base64url").slice(0, 16);
}

/** The longest time that a person waits for an authorization server, in milliseconds. */
const ASK_MS = 20_000;

/** The methods in the order of preference. */
const AUTH_METHODS = ["none", "client_secret_post", "client_secret_basic"] as const;
type AuthMethod = (typeof AUTH_METHODS)[number];

const Registered = z.object({
  client_id: z.string().min(1).max(1_000),
  client_secret: z.string().min(1).max(2_000).optional(),
  token_endpoint_auth_method: z.enum(AUTH_METHODS).optional().catch(undefined),
});

const Claims = z.object({
  iss: z.string(),
  sub: z.string().min(1).max(255),
  aud: z.union([z.string(), z.array(z.string())]),
  exp: z.number(),
  email: z.string().max(320).optional().catch(undefined),
  preferred_username: z.string().max(255).optional().catch(undefined),
  name: z.string().max(255).optional().catch(undefined),
});

function notRegistered(problem: string, message: string, cause?: unknown): ApiError {
  return new ApiError("connection_failed", {
    message,
    hint: "An admin can register kb there with the server's redirect URL, and set the client ID in the server's sign-in settings (`auth`).",
    details: { step: "auth", problem },
    cause,
  });
}
