import { IncomingMessage, ServerResponse } from "node:http";
import { parse as parseCookies } from "hono/utils/cookie";
import { ApiError } from "#api/errors.ts";
import { findVisitor, type SessionLookup } from "#server/http/authenticate.ts";
import { originOf, type App, type AppContext } from "#server/http/env.ts";
import { chargeSender, type Limits } from "#server/http/limits.ts";
import { MCP_PATHS, ownBaseUrl, ownResource } from "#server/http/own-addresses.ts";
import { logFailure } from "#server/http/problem.ts";
import { readText } from "#server/http/request.ts";
import type { Log } from "#core/log.ts";
import { ANY_ORIGIN, answerOAuthError, CROSS_ORIGIN, toErrorPage } from "./failures.ts";
import { rewriteForm } from "./form-body.ts";
import { handOver } from "./handed.ts";
import { authorizationServerMetadata, protectedResourceMetadata } from "./metadata.ts";
import { PATHS } from "./policy.ts";
import { COOKIES } from "./provider.ts";
import { MAX_REGISTRATION_BYTES } from "./registration.ts";
import type { OAuthService } from "./service.ts";
import { answerSubmission, type SubmissionOptions } from "./submission.ts";

export interface MountOAuthOptions extends SubmissionOptions {
  oauth: OAuthService;
  log: Log;
  cookie: { name: string };
  sessions: SessionLookup;
  limits: Pick<Limits, "chargeOpen">;
}

/**
 * Mounts the authorization server at the paths of the contract. The library gets the original Node request and
 * response. This server itself handles metadata and registration.
 */
export function mountOAuthServer(app: App, options: MountOAuthOptions): void {
  const { oauth } = options;
  const server = (baseUrl: string) => authorizationServerMetadata(baseUrl, oauth);
  publish(app, options, "/.well-known/oauth-authorization-server", server);
  publish(app, options, "/.well-known/openid-configuration", server);
  publish(app, options, "/.well-known/oauth-protected-resource", protectedResourceMetadata);
  for (const path of MCP_PATHS) {
    const document = (baseUrl: string) => protectedResourceMetadata(baseUrl, path);
    publish(app, options, `/.well-known/oauth-protected-resource${path}`, document);
  }

  on(app, options, PATHS.register, { POST: (c) => register(c, oauth) });
  on(app, options, PATHS.authorize, {
    GET: (c) => hand(c, options, (url) => withKnownParameters(url, oauth.baseUrl)),
    POST: (c) => answerSubmission(c, options),
  });
  on(app, options, `${PATHS.authorize}/:uid`, { GET: (c) => hand(c, options) });
  on(app, options, PATHS.token, { POST: (c) => handForm(c, options) });
  on(app, options, PATHS.revoke, { POST: (c) => hand(c, options) });
  on(app, options, PATHS.deviceAuthorization, { POST: (c) => handForm(c, options) });
  on(app, options, PATHS.jwks, { GET: (c) => hand(c, options) });
}

type Handler = (c: AppContext) => Promise<Response>;

const METHODS = ["GET", "HEAD", "POST"] as const;

function on(
  app: App,
  options: MountOAuthOptions,
  path: string,
  handlers: Partial<Record<(typeof METHODS)[number], Handler>>,
): void {
  const methods = Object.keys(handlers).join(", ");
  app.all(path, async (c) => {
    const isOpen = CROSS_ORIGIN.has(path);
    if (isOpen && c.req.method === "OPTIONS") return preflight("POST");
    try {
      const method = METHODS.find((one) => one === c.req.method);
      const handler = method && handlers[method];
      if (handler === undefined) {
        throw new ApiError("method_not_allowed", {
          message: `Method ${c.req.method} is not allowed here. Allowed: ${methods}.`,
        });
      }
      if (path.startsWith("/oauth/")) await charge(c, options);
      return await handler(c);
    } catch (error) {
      logFailure(options.log, error, { requestId: c.get("requestId"), method: c.req.method, path: c.req.path });
      const response = toErrorPage(c, error) ?? answerOAuthError(path, error);
      if (response.status === 405) response.headers.set("Allow", methods);
      return response;
    }
  });
}

/**
 * Counts the request against its limits. A valid credential has a separate limit. A known browser gets one after others
 * have used up the limit of its address.
 */
async function charge(c: AppContext, options: MountOAuthOptions): Promise<void> {
  const { limits, authenticator } = options;
  const shown = await findShown(c, options);
  if (shown !== undefined) return limits.chargeOpen({ clientIp: c.get("clientIp"), shown });
  const findOther = () => authenticator.findShown(c.req.raw.headers);
  await chargeSender((sender) => limits.chargeOpen(sender), c.get("clientIp"), findOther);
}

function preflight(methods: string): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...ANY_ORIGIN,
      "Access-Control-Allow-Methods": methods,
      "Access-Control-Allow-Headers": "Content-Type, Accept, MCP-Protocol-Version",
      "Access-Control-Max-Age": "3600",
    },
  });
}

function publish(
  app: App,
  options: MountOAuthOptions,
  path: string,
  document: (baseUrl: string) => Record<string, unknown>,
): void {
  const headers = { "Content-Type": "application/json", "Cache-Control": "public, max-age=300", ...ANY_ORIGIN };
  app.options(path, () => preflight("GET"));
  const answer = async (c: AppContext) => {
    const baseUrl = ownBaseUrl(options.oauth.baseUrl, c.req.header("host"));
    return new Response(JSON.stringify(document(baseUrl)), { headers });
  };
  on(app, options, path, { GET: answer, HEAD: answer });
}

async function register(c: AppContext, oauth: OAuthService): Promise<Response> {
  const client = await oauth.registration.register(await readText(c, MAX_REGISTRATION_BYTES), originOf(c));
  void oauth.sweep();
  return new Response(JSON.stringify(client), {
    status: 201,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store", ...ANY_ORIGIN },
  });
}

/**
 * The authorization parameters that are passed to the library. It would reject other parameters, or act on ones that kb
 * doesn't support.
 */
const KNOWN_PARAMETERS = new Set([
  "client_id",
  "code_challenge",
  "code_challenge_method",
  "redirect_uri",
  "resource",
  "response_mode",
  "response_type",
  "scope",
  "state",
]);

function withKnownParameters(url: string, baseUrl: string): string {
  const { pathname, searchParams } = new URL(url, "http://localhost");
  const kept = [...searchParams].filter(
    // A person always has to consent, so the only `prompt` with an effect is "none".
    ([name, value]) => KNOWN_PARAMETERS.has(name) || (name === "prompt" && value === "none"),
  );
  const form = new URLSearchParams(kept);
  toOneAudience(form, baseUrl);
  return `${pathname}?${form}`;
}

/** Replaces each spelling of a resource with the canonical one, for which tokens are issued. */
function toOneAudience(form: URLSearchParams, baseUrl: string): void {
  const resources = form.getAll("resource");
  form.delete("resource");
  for (const resource of new Set(resources.map((one) => ownResource(baseUrl, one)))) form.append("resource", resource);
}

async function handForm(c: AppContext, options: MountOAuthOptions): Promise<Response> {
  const { incoming }: { incoming?: unknown } = c.env ?? {};
  if (incoming instanceof IncomingMessage) {
    await rewriteForm(incoming, (form) => toOneAudience(form, options.oauth.baseUrl));
  }
  return hand(c, options);
}

/**
 * Passes the Node objects to the library and waits for its response.
 *
 * @throws ApiError `unavailable` if the request has no socket
 */
async function hand(c: AppContext, options: MountOAuthOptions, rewrite = (url: string) => url): Promise<Response> {
  // `@hono/node-server` passes both. Without a listener, a handler gets neither.
  const { incoming, outgoing }: { incoming?: unknown; outgoing?: unknown } = c.env ?? {};
  if (!(incoming instanceof IncomingMessage) || !(outgoing instanceof ServerResponse)) {
    throw new ApiError("unavailable", { message: "This endpoint needs a real HTTP connection." });
  }
  const base = new URL(ownBaseUrl(options.oauth.baseUrl, c.req.header("host")));
  const origin = originOf(c);
  handOver(incoming, { origin, hasSession: await hasSession(c, options) });
  incoming.url = rewrite(incoming.url ?? "/");
  // Every address in a response is built from these values. The client sets the Host header, which at most selects one
  // of the loopback twins.
  incoming.headers.host = base.host;
  incoming.headers["x-forwarded-proto"] = base.protocol.slice(0, -1);
  delete incoming.headers["x-forwarded-host"];
  delete incoming.headers["x-forwarded-for"];
  incoming.headers.cookie = ownCookies(incoming.headers.cookie);
  for (const [name, value] of Object.entries(headersOf(base, origin.requestId))) outgoing.setHeader(name, value);
  const provider = await options.oauth.provider();
  await provider.callback()(incoming, outgoing);
  void options.oauth.sweep();
  // Signals to the listener that the response was sent. The status is for kb's own log line.
  const status = outgoing.statusCode >= 200 ? outgoing.statusCode : 200;
  return new Response(null, { status, headers: new Headers({ "x-hono-already-sent": "true" }) });
}

async function hasSession(c: AppContext, options: MountOAuthOptions): Promise<boolean> {
  return c.req.path === PATHS.authorize && (await findVisitor(c.req.raw.headers, options)) !== undefined;
}

/**
 * The credential of this server that a request contains. The request is limited by that credential, and not together
 * with strangers at the same address.
 */
async function findShown(c: AppContext, options: MountOAuthOptions): Promise<string | undefined> {
  const { path } = c.req;
  if (path === PATHS.authorize || path.startsWith(`${PATHS.authorize}/`))
    return (await findVisitor(c.req.raw.headers, options))?.userId;
  const { incoming }: { incoming?: unknown } = c.env ?? {};
  if (path !== PATHS.token || !(incoming instanceof IncomingMessage)) return undefined;
  return options.oauth.findShown(incoming);
}

/**
 * kb's session is the only sign-in state, since the library's own session would outlive it.
 * Source: docs/decisions/0015.
 */
function ownCookies(header: string | undefined): string {
  const names = [COOKIES.interaction, COOKIES.resume].flatMap((name) => [name, `${name}.sig`]);
  return Object.entries(parseCookies(header ?? ""))
    .filter(([name]) => names.includes(name))
    .map(([name, value]) => `${name}=${value}`)
    .join("; ");
}

function headersOf(base: URL, requestId: string): Record<string, string> {
  return {
    "X-Request-Id": requestId,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    ...(base.protocol === "https:" && { "Strict-Transport-Security": "max-age=31536000" }),
  };
}
