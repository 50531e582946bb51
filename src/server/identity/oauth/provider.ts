import type { Parts } from "#storage/records/parts.ts";
import type {
  AdapterPayload,
  Configuration,
  KoaContextWithOIDC,
  Provider,
  TokenEndpointGrantContext,
} from "oidc-provider";
import { serialize } from "hono/utils/cookie";
import { isApiError } from "#api/errors.ts";
import { makeAdapters } from "./adapter.ts";
import { OWN_CLIENT } from "./clients.ts";
import type { ClientDocuments } from "./client-documents.ts";
import { bindingCookie } from "./consent.ts";
import { errorPage } from "./error-page.ts";
import { handedOf } from "./handed.ts";
import type { OAuthKeys } from "./keys.ts";
import type { Library } from "./library.ts";
import { DEVICE_GRANT, LIFETIMES, OWN_CLIENT_ID, PATHS, resourcesOf, SCOPES_OF, scopesOf } from "./policy.ts";
import { POLL_SECONDS, type PollWatch } from "./polls.ts";
import type { OAuthRecords } from "./records.ts";
import type { RefreshGrace, RefreshRequest } from "./refresh.ts";

export interface ProviderOptions extends Pick<Parts, "store" | "clock" | "log"> {
  library: Library;
  baseUrl: string;
  keys: OAuthKeys;
  records: OAuthRecords;
  grace: RefreshGrace;
  polls: PollWatch;
  /** Undefined if clients have to register. */
  documents: Pick<ClientDocuments, "find"> | undefined;
  /** Ends all tokens of a grant. `ctx` is the request that caused it. */
  endGrant(grantId: string, ctx: KoaContextWithOIDC | undefined): Promise<void>;
  /** Details of a request for consent or a device code, in addition to the standard ones. */
  deviceInfo(ctx: KoaContextWithOIDC): { ip: string };
}

export const COOKIES = {
  session: "kb_oauth_session",
  interaction: "kb_oauth_step",
  resume: "kb_oauth_resume",
} as const;

/**
 * Makes the authorization server: public clients, code flow with PKCE S256, device codes, opaque tokens bound to one
 * resource. Source: docs/decisions/0015.
 */
export function makeProvider(options: ProviderOptions): Provider {
  const { library, baseUrl, log, grace, polls } = options;
  const { errors } = library;

  class KbProvider extends library.Provider {
    /** Receives errors that the library didn't handle. By default it would print them to the console. */
    override onerror(error: Error): void {
      log.error({ err: error }, "request failed");
    }

    // The library's constructor calls this method for its own grants, and two of them are wrapped here.
    override registerGrantType<Params extends object>(
      name: string,
      handler: (ctx: TokenEndpointGrantContext<Params>) => Promise<void> | void,
      params?: GrantParameters,
      duplicates?: GrantParameters,
    ): void {
      // The wrappers don't change the context.
      const grantHandler = handler as unknown as GrantHandler;
      const wrapped =
        name === "refresh_token"
          ? withGrace(grantHandler)
          : name === DEVICE_GRANT
            ? withPolls(grantHandler)
            : grantHandler;
      super.registerGrantType(name, wrapped, params, duplicates);
    }
  }

  function withGrace(handler: GrantHandler): GrantHandler {
    return async (ctx) => {
      leaveScopeToServer(ctx);
      const request = readRefresh(ctx);
      if (request === undefined) return handler(ctx);
      await grace.alone(request.token, async () => {
        if (await repeat(ctx, request)) return;
        await requireGrantedResource(ctx, request.token);
        await handler(ctx);
        await grace.keep(request, ctx.body as Record<string, unknown>);
      });
    };
  }

  /** The library checks the resource only after it has used up the token, so a mistake would sign the person out. */
  async function requireGrantedResource({ oidc }: TokenEndpointGrantContext, token: string): Promise<void> {
    const { resource } = oidc.params;
    if (resource === undefined) return;
    const found = await oidc.provider.RefreshToken.find(token, { ignoreExpiration: true });
    if (found === undefined || found.clientId !== oidc.client.clientId) return;
    if (Array.isArray(resource) || ![found.resource].flat().includes(resource)) throw new errors.InvalidTarget();
  }

  async function repeat(ctx: TokenEndpointGrantContext, request: RefreshRequest): Promise<boolean> {
    const repeated = await grace.find(request);
    if (repeated === "other") throw new errors.InvalidGrant("the refresh token was just used for something else");
    if (repeated === undefined) return false;
    ctx.body = repeated.answer;
    return true;
  }

  function withPolls(handler: GrantHandler): GrantHandler {
    return async (ctx) => {
      const code = ctx.oidc.params["device_code"];
      if (typeof code === "string" && polls.isTooSoon(code)) throw new errors.SlowDown();
      await handler(ctx);
    };
  }

  const provider = new KbProvider(baseUrl, makeConfiguration(options));
  provider.proxy = true;
  // The library's types omit the properties that it adds to the context of its own middleware.
  provider.use((ctx, next) => dress(ctx as unknown as Koa, next, baseUrl));
  provider.on("server_error", (ctx, error) => log.error({ path: ctx.path, err: error }, "request failed"));
  return provider;
}

type GrantParameters = string | readonly string[] | ReadonlySet<string>;
type GrantHandler = (ctx: TokenEndpointGrantContext) => Promise<void> | void;

/** Gives clients other than the command line their only scope, even if they repeat an earlier request. */
function leaveScopeToServer({ oidc }: TokenEndpointGrantContext): void {
  if (oidc.client.clientId !== OWN_CLIENT_ID) delete oidc.params["scope"];
}

function readRefresh({ oidc }: TokenEndpointGrantContext): RefreshRequest | undefined {
  const { refresh_token: token, resource, scope } = oidc.params;
  if (typeof token !== "string") return undefined;
  return { token, clientId: oidc.client.clientId, asked: JSON.stringify([resource ?? null, scope ?? null]) };
}

function makeConfiguration(options: ProviderOptions): Configuration {
  const { library, baseUrl, keys, clock, store, records } = options;
  const cookie = { httpOnly: true, sameSite: "lax", secure: isHttps(baseUrl), signed: true } as const;
  return {
    adapter: makeAdapters({
      store,
      records,
      clock,
      alreadyUsed: () => new library.errors.InvalidGrant("already used"),
      endGrant: (grantId) => options.endGrant(grantId, library.Provider.ctx),
      findDocument: (clientId) => findDocument(options, clientId),
    }),
    clients: [OWN_CLIENT],
    clientAuthMethods: ["none"],
    clientBasedCORS: () => true,
    clientDefaults: { id_token_signed_response_alg: "ES256", token_endpoint_auth_method: "none" },
    cookies: { names: { ...COOKIES }, long: cookie, short: cookie, keys: [keys.cookies] },
    features: makeFeatureList(options),
    expiresWithSession: () => false,
    findAccount: async (_ctx, accountId, token) => {
      if (!(await mayGoOn(options, accountId, token))) return undefined;
      return { accountId, claims: () => ({ sub: accountId }) };
    },
    interactions: { url: (_ctx, interaction) => `/oauth/consent/${interaction.uid}` },
    // The scopes that an admin gains by proving their identity again end after an hour. Source: S27.
    issueRefreshToken: (_ctx, client, source) =>
      client.grantTypeAllowed("refresh_token") && !source.scopes.has("kb:admin"),
    jwks: { keys: [keys.signing] },
    loadExistingGrant: async (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId);
    },
    pkce: { required: () => true },
    renderError: (ctx, out) => {
      // Programs that request JSON get JSON. Browsers, and programs that accept anything, get the page.
      if (ctx.accepts("html", "json") === "json") {
        ctx.body = out;
        return;
      }
      const { error, error_description: description } = out;
      const { html, policy } = errorPage({ error, description, clientName: ctx.oidc.client?.clientName });
      ctx.set("Content-Security-Policy", policy);
      ctx.type = "html";
      ctx.body = html;
    },
    responseTypes: ["code"],
    revokeGrantPolicy: () => true,
    rotateRefreshToken: () => true,
    routes: {
      authorization: PATHS.authorize,
      token: PATHS.token,
      revocation: PATHS.revoke,
      device_authorization: PATHS.deviceAuthorization,
      code_verification: PATHS.device,
      jwks: PATHS.jwks,
    },
    ttl: {
      AccessToken: LIFETIMES.accessToken,
      AuthorizationCode: (_ctx, { scope }) =>
        scope === "mcp:read" ? LIFETIMES.readingCode : LIFETIMES.authorizationCode,
      DeviceCode: LIFETIMES.deviceCode,
      Grant: LIFETIMES.grant,
      IdToken: LIFETIMES.accessToken,
      Interaction: LIFETIMES.interaction,
      RefreshToken: LIFETIMES.refreshToken,
      Session: LIFETIMES.interaction,
    },
  };
}

/**
 * Loads a client from its document. Errors have the form that the library expects. The library's own loader keeps no
 * copy.
 */
async function findDocument(
  { documents, library }: ProviderOptions,
  clientId: string,
): Promise<AdapterPayload | undefined> {
  const { InvalidClient, TemporarilyUnavailable } = library.errors;
  if (documents === undefined) {
    const description = "this server reads no client documents: register the client at /oauth/register";
    throw Object.assign(new InvalidClient(description), { error_description: description });
  }
  try {
    const found = await documents.find(clientId);
    return found && { ...found };
  } catch (error) {
    if (!isApiError(error, "unavailable")) throw error;
    library.Provider.ctx?.set("Retry-After", String(Math.ceil((error.retryAfterMs ?? 0) / 1000)));
    const { message } = error;
    throw Object.assign(new TemporarilyUnavailable(message), {
      statusCode: error.status,
      status: error.status,
      error_description: message,
    });
  }
}

function makeFeatureList({ library, baseUrl, deviceInfo }: ProviderOptions): NonNullable<Configuration["features"]> {
  const { InvalidScope, InvalidTarget } = library.errors;
  const resources = resourcesOf(baseUrl);
  const off = { enabled: false } as const;
  return {
    devInteractions: off,
    dPoP: off,
    pushedAuthorizationRequests: off,
    rpInitiatedLogout: off,
    userinfo: off,
    deviceFlow: { enabled: true, charset: "base-20", mask: "****-****", deviceInfo },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_ctx, _client, oneOf) =>
        oneOf === undefined || oneOf.includes(resources.mcp) ? resources.mcp : (oneOf[0] ?? resources.mcp),
      useGrantedResource: () => true,
      getResourceServerInfo(ctx, resource, client) {
        const audience = resource === resources.mcp ? "mcp" : resource === resources.api ? "api" : undefined;
        if (audience === undefined || (audience === "api" && client.clientId !== OWN_CLIENT_ID)) {
          throw new InvalidTarget();
        }
        if (!keepKnownScopes(ctx))
          throw new InvalidScope("the client was not granted this scope", String(ctx.oidc.params?.["scope"]));
        return { scope: SCOPES_OF[audience].join(" "), audience: resource, accessTokenFormat: "opaque" };
      },
    },
    revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
  };
}

/** Adjusts the library's response: adds and removes headers, cookies and fields. */
async function dress(ctx: Koa, next: () => Promise<unknown>, baseUrl: string): Promise<void> {
  await next();
  const secure = isHttps(baseUrl);
  nameIssuerAsAsked(ctx, baseUrl);
  const oidc: KoaContextWithOIDC["oidc"] | undefined = ctx.oidc;
  const interaction = oidc?.entities.Interaction;
  const cookies = [ctx.res.getHeader("set-cookie") ?? []].flat().map(String);
  // The library's session and its shared interaction cookie are never read.
  const kept = cookies.filter((one) => !one.startsWith(COOKIES.session) && !one.startsWith(COOKIES.interaction));
  if (oidc?.route === "authorization" && interaction !== undefined) {
    const { uid } = interaction;
    const about = { path: "/oauth", httpOnly: true, sameSite: "Lax", maxAge: LIFETIMES.interaction, secure } as const;
    kept.push(serialize(bindingCookie(uid), uid, about));
    const page = `/oauth/consent/${uid}`;
    ctx.status = 302;
    ctx.set(
      "Location",
      handedOf(ctx.req)?.hasSession === false ? `/sign-in?returnTo=${encodeURIComponent(page)}` : page,
    );
    ctx.body = "";
  }
  // The request was decided, so the cookie that bound it to this browser is no longer needed.
  if (oidc?.route === "resume" && interaction !== undefined) {
    kept.push(serialize(bindingCookie(interaction.uid), "", { path: "/oauth", httpOnly: true, maxAge: 0, secure }));
  }
  if (kept.length > 0) ctx.set("Set-Cookie", kept);
  else ctx.remove("Set-Cookie");
  if (oidc?.route === "device_authorization") dressDeviceAnswer(ctx);
}

/**
 * Sets the issuer for clients that used the server's other name, since they compare it with the issuer in the metadata
 * that they read.
 */
function nameIssuerAsAsked(ctx: Koa, baseUrl: string): void {
  const own = `${new URL(baseUrl).protocol}//${ctx.req.headers.host}`;
  const location = ctx.res.getHeader("location");
  if (own === baseUrl || typeof location !== "string") return;
  const issuer = (url: string) => `iss=${encodeURIComponent(url)}`;
  ctx.set("Location", location.replace(issuer(baseUrl), issuer(own)));
}

/** Omits the link that contains the code, since people would follow it without reading. Source: S27. */
function dressDeviceAnswer(ctx: Koa): void {
  const body: unknown = ctx.body;
  if (typeof body !== "object" || body === null) return;
  const { Client: client } = ctx.oidc.entities;
  if ("error" in body && client !== undefined && client.clientId !== OWN_CLIENT_ID) {
    ctx.body = { ...body, error_description: DEVICES_ARE_OURS };
  }
  if (!("device_code" in body)) return;
  const { verification_uri_complete: _link, ...kept } = body as Record<string, unknown>;
  ctx.body = { ...kept, interval: POLL_SECONDS };
}

const DEVICES_ARE_OURS =
  "device codes are for the command line only (kb login): use the authorization code flow with PKCE";

type Koa = KoaContextWithOIDC;

function isHttps(baseUrl: string): boolean {
  return baseUrl.startsWith("https:");
}

/**
 * Removes the requested scopes that the client may not have. The command line keeps those that it may have, and gets
 * `mcp:read` if it requests none. Every other client gets `mcp:read`, whatever it requests, and the response reports it
 * (RFC 6749 §3.3). It happens here because this is the first hook after the client and its redirect address were
 * checked.
 *
 * @returns false if scopes were requested and none remains
 */
function keepKnownScopes(ctx: KoaContextWithOIDC): boolean {
  const { route, params, client } = ctx.oidc;
  const way = route === "authorization" ? "browser" : route === "device_authorization" ? "device" : undefined;
  if (way === undefined || params === undefined || client === undefined) return true;
  const allowed = scopesOf(client.clientId, way);
  const asked = String(params["scope"] ?? "mcp:read").split(" ");
  const kept = client.clientId === OWN_CLIENT_ID ? allowed.filter((scope) => asked.includes(scope)) : allowed;
  params["scope"] = kept.join(" ");
  return kept.length > 0;
}

/** Returns whether tokens can be refreshed: only while the grant exists and its person is a member. Source: S13. */
async function mayGoOn({ store }: ProviderOptions, userId: string, token: unknown): Promise<boolean> {
  const grantId =
    typeof token === "object" && token !== null && "grantId" in token && typeof token.grantId === "string"
      ? token.grantId
      : undefined;
  if (grantId === undefined) return (await store.users.find(userId)) !== undefined;
  const grant = await store.oauth.findGrant(grantId);
  if (grant === undefined || grant.revokedAt !== null || grant.userId !== userId) return false;
  return (await store.in(grant.workspaceId).members.find(userId)) !== undefined;
}
