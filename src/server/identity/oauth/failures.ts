import { ApiError, type ErrorClass } from "#api/errors.ts";
import type { AppContext } from "#server/http/env.ts";
import { toApiError, toProblem, retryAfterOf } from "#server/http/problem.ts";
import { refusalPage } from "./error-page.ts";
import { PATHS } from "./policy.ts";

/** Makes an error with its code of RFC 6749, 7591 or 8628. */
export function oauthFailure(oauthError: string, message: string): ApiError {
  return new ApiError("invalid_request", { message, details: { oauthError } });
}

/** The body of an error response under `/oauth`. Source: RFC 6749 §5.2. */
export interface OAuthErrorBody {
  error: string;
  error_description: string;
}

/** Converts any error to OAuth's terms. Details of server faults are not exposed. */
export function toOAuthError(error: unknown): {
  status: number;
  headers: Record<string, string>;
  body: OAuthErrorBody;
} {
  const failure = toApiError(error);
  const named = failure.details?.["oauthError"];
  return {
    status: failure.status,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      ...retryAfterOf(failure),
    },
    body: {
      error: typeof named === "string" ? named : (CODES[failure.class] ?? "invalid_request"),
      // RFC 6749 allows neither quotes nor backslashes in this text.
      error_description: failure.message.replaceAll('"', "'").replaceAll("\\", "/"),
    },
  };
}

/**
 * Returns the error as a page on paths where an app sent a person's browser, which would otherwise show JSON. Undefined
 * on other paths. Browsers only visit `/oauth/authorize` and the paths below it.
 */
export function toErrorPage(c: AppContext, error: unknown): Response | undefined {
  const { path } = c.req;
  const isOnTheWay = path === PATHS.authorize || path.startsWith(`${PATHS.authorize}/`);
  if (!isOnTheWay || c.req.header("accept")?.toLowerCase().includes("text/html") !== true) return undefined;
  const { html, policy } = refusalPage(toApiError(error), c.get("requestId"));
  const { status, headers } = toProblem(error, c.get("requestId"));
  return new Response(html, {
    status,
    headers: { ...headers, "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy },
  });
}

/** Paths that pages of other sites may use. Their requests contain their own credentials, and cookies are ignored. */
export const CROSS_ORIGIN: ReadonlySet<string> = new Set([
  PATHS.register,
  PATHS.token,
  PATHS.revoke,
  PATHS.deviceAuthorization,
]);

/** Cookies are never sent with these requests, so a page learns nothing that its own server couldn't. */
export const ANY_ORIGIN = { "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin" };

/** Returns the error in OAuth's terms. Pages of other sites can read it on the paths that they may use. */
export function answerOAuthError(path: string, error: unknown): Response {
  const { status, headers, body } = toOAuthError(error);
  const open = CROSS_ORIGIN.has(path) ? ANY_ORIGIN : {};
  return new Response(JSON.stringify(body), { status, headers: { ...headers, ...open } });
}

/**
 * Responds to a request that was refused before it reached the authorization server (too many requests, a wrong Host):
 * a page for people, OAuth's JSON for programs. Undefined on other paths.
 */
export function toOAuthAnswer(c: AppContext, error: unknown): Response | undefined {
  return toErrorPage(c, error) ?? (CROSS_ORIGIN.has(c.req.path) ? answerOAuthError(c.req.path, error) : undefined);
}

const CODES: Partial<Record<ErrorClass, string>> = {
  unauthenticated: "access_denied",
  forbidden: "access_denied",
  rate_limited: "temporarily_unavailable",
  internal: "server_error",
  source_unavailable: "temporarily_unavailable",
  unavailable: "temporarily_unavailable",
};
