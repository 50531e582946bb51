import type { Parts } from "#storage/records/parts.ts";
import { canParseUrl } from "#api/parse-url.ts";
import type { MiddlewareHandler } from "hono";
import { ID_ALPHABET } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import type { RandomBytes } from "#core/clock.ts";
import { makeClientIp } from "#net/client-ip.ts";
import type { AppContext, AppEnv } from "./env.ts";
import { MCP_PATHS } from "./own-addresses.ts";
import type { Authenticator } from "./authenticate.ts";
import { chargeSender, type Limits, type Sender } from "./limits.ts";
import { answerProblem } from "./problem.ts";

export interface GuardOptions {
  /** The origin of all links and cookies, such as `http://127.0.0.1:7700`. */
  baseUrl: string;
  allowedHosts: readonly string[];
  /** Addresses or CIDR ranges whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
}

/** The checks before authentication. `/mcp` calls them itself, to respond in JSON-RPC. */
export type Guard = ReturnType<typeof makeGuard>;

/** Makes the checks before authentication. Source: S32. */
export function makeGuard(options: GuardOptions) {
  const base = new URL(options.baseUrl);
  const allowedHosts = new Set([base.hostname, ...options.allowedHosts].map((host) => host.toLowerCase()));
  return {
    /** @throws ApiError `host_not_allowed` */
    checkHost(headers: Headers, url: string): void {
      const host = hostName(headers.get("host") ?? new URL(url).host);
      if (host !== undefined && (isLoopbackName(host) || allowedHosts.has(host))) return;
      throw new ApiError("host_not_allowed", {
        message: `This server does not answer to the host "${(host ?? "").slice(0, 100)}". Use ${base.origin}, or add the name to KB_ALLOWED_HOSTS.`,
      });
    },
    /** Refuses requests that a browser sends on behalf of another site. @throws ApiError `origin_not_allowed` */
    checkOrigin(headers: Headers): void {
      const site = headers.get("sec-fetch-site");
      const origin = headers.get("origin");
      const isForeign =
        site === "cross-site" || site === "same-site" || (origin !== null && !isOwnOrigin(origin, base));
      if (!isForeign) return;
      throw new ApiError("origin_not_allowed", {
        message: `This request comes from another site. Only pages of ${base.origin}, and programs that send no Origin header, can send it.`,
      });
    },
  };
}

export interface FrameOptions extends GuardOptions, Pick<Parts, "clock" | "randomBytes" | "log"> {
  guard: Guard;
  /** Counts requests by their address, or by the credential of this server that they contain. */
  limits: Pick<Limits, "admit">;
  authenticator: Pick<Authenticator, "findShown">;
  /** Returns the response for an error that isn't answered with a problem body. */
  toPage?: (c: AppContext, error: unknown) => Response | undefined;
}

/**
 * Wraps every request with its request id, client address, Host check, CSRF check, security headers and one log line.
 */
export function frameRequests(options: FrameOptions): MiddlewareHandler<AppEnv> {
  const { guard, limits, authenticator, clock, log, randomBytes } = options;
  const clientIp = makeClientIp(options.trustedProxies);
  const isHttps = options.baseUrl.startsWith("https:");
  return async (c, next) => {
    const startedAt = clock.now();
    const requestId = makeRequestId(randomBytes);
    c.set("requestId", requestId);
    c.set("clientIp", clientIp(c.env?.incoming?.socket?.remoteAddress, c.req.header("x-forwarded-for")));
    try {
      if (!MCP_PATHS.some((path) => path === c.req.path)) {
        checkRequest(guard, c.req.raw);
        const { method, path } = c.req;
        const admit = (sender: Sender) => limits.admit({ ...sender, method, path });
        await chargeSender(admit, c.get("clientIp"), () => authenticator.findShown(c.req.raw.headers));
      }
      await next();
    } catch (error) {
      c.res = options.toPage?.(c, error) ?? answerProblem(c, error, log);
    }
    // The rest of a body that arrived too slowly isn't awaited.
    if (c.res.status === 408) c.res.headers.set("Connection", "close");
    const framed = withSecurityHeaders(c.res, { isHttps, isApi: /^\/(?:api|oauth)\//.test(c.req.path), requestId });
    // Setting a response copies it, with its body as a stream. The copy is needed if the answer was written directly to
    // the socket.
    if (framed !== c.res || framed.headers.has(ALREADY_SENT)) c.res = framed;
    log.info(
      { requestId, method: c.req.method, path: c.req.path, status: c.res.status, tookMs: clock.now() - startedAt },
      "request",
    );
  };
}

/** Marks a response whose answer was written elsewhere. `@hono/node-server` checks for the mark only on a copy. */
const ALREADY_SENT = "x-hono-already-sent";

function checkRequest(guard: Guard, request: Request): void {
  guard.checkHost(request.headers, request.url);
  // A request with a credential in its headers can't come from another site: no browser adds one on a site's behalf.
  if (!isUnsafe(request.method) || request.headers.has("authorization")) return;
  if (!COOKIELESS.has(new URL(request.url).pathname)) guard.checkOrigin(request.headers);
}

/** Paths that pages of other sites may use, since they ignore cookies. */
const COOKIELESS: ReadonlySet<string> = new Set([
  "/oauth/register",
  "/oauth/token",
  "/oauth/revoke",
  "/oauth/device_authorization",
]);

/** Adds the security headers that the handler hasn't set. */
export function withSecurityHeaders(
  response: Response,
  about: { isHttps: boolean; isApi: boolean; requestId: string },
): Response {
  const headers: Record<string, string> = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    ...(about.isApi && { "Cache-Control": "no-store" }),
    ...(about.isHttps && { "Strict-Transport-Security": "max-age=31536000" }),
  };
  const changed = withMutableHeaders(response);
  for (const [name, value] of Object.entries(headers)) if (!changed.headers.has(name)) changed.headers.set(name, value);
  changed.headers.set("X-Request-Id", about.requestId);
  return changed;
}

/** Returns the response itself, or a copy if its headers are immutable (responses of `fetch`). */
function withMutableHeaders(response: Response): Response {
  try {
    response.headers.delete("X-Request-Id");
    return response;
  } catch {
    return new Response(response.body, response);
  }
}

/** Whether connections to this name or address never leave this machine. */
export function isLoopbackName(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function isUnsafe(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}

/** The name in a Host header, in lower case, without port and brackets. Undefined if the header is invalid. */
function hostName(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, "");
}

/**
 * Whether this is the origin of the base URL or its loopback twin. For people, `localhost` and `127.0.0.1` on the same
 * port are one server.
 */
function isOwnOrigin(origin: string, base: URL): boolean {
  if (origin === base.origin) return true;
  const url = canParseUrl(origin) ? new URL(origin) : undefined;
  if (!url || url.origin !== origin) return false;
  const name = (host: string) => host.replaceAll(/[[\]]/g, "");
  return (
    isLoopbackName(name(url.hostname)) &&
    isLoopbackName(name(base.hostname)) &&
    url.protocol === base.protocol &&
    url.port === base.port
  );
}

/** Makes the id of a request, for its response and the log. */
export function makeRequestId(randomBytes: RandomBytes): string {
  let text = "req_";
  for (const byte of randomBytes(16)) text += ID_ALPHABET[byte & 31];
  return text;
}
