import type { RouteConfig } from "@hono/zod-openapi";
import { ERROR_CLASSES, ERROR_CODES, type ErrorCode } from "#api/errors.ts";
import { OWN_CODES } from "#api/route.ts";
import { findRouteAccess, type RouteAccess } from "./auth.ts";
import { findCreateRule } from "./idempotency.ts";
import { shapeOf } from "./request.ts";

/** The errors that a route may return, by HTTP status. */
export type Failures = ReadonlyMap<number, readonly ErrorCode[]>;

/**
 * Returns every error status of a route with its codes. They come from the route's credentials, body, ids and limits,
 * and from the codes that it declares with `problems`. The API document is generated from them, and tests check every
 * response against them.
 */
export function failuresOf(route: RouteConfig): Failures {
  const rule = findRouteAccess(route.method, route.path);
  const codes = new Set<ErrorCode>([
    ...EVERYWHERE,
    ...(isUnsafe(route) ? ON_WRITES : []),
    ...(rule === undefined ? [] : ofCredentials(rule)),
    ...ofRequest(route),
    ...(findCreateRule(route.method, route.path) ? OF_CREATES : []),
    ...ownCodes(route),
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code]);
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

/** Errors that any request may get: from the request middleware, or from a server that fails or isn't ready. */
const EVERYWHERE: readonly ErrorCode[] = [
  "invalid_request",
  "credential_in_url",
  "host_not_allowed",
  "request_timeout",
  "rate_limited",
  "headers_too_large",
  "internal",
  "unavailable",
  "database_unusable",
  "database_damaged",
  "restart_needed",
  "resources_exhausted",
];

/** Errors of requests that change data: the request is cross-site, or the disk is full. */
const ON_WRITES: readonly ErrorCode[] = ["origin_not_allowed", ...codesOfStatus(507)];

const OF_CREATES: readonly ErrorCode[] = ["idempotency_key_reused", "already_created"];

function ofCredentials(rule: RouteAccess): ErrorCode[] {
  if (rule.public) return [];
  const takesScopes = rule.pat.length > 0 || rule.oauth !== undefined;
  return [
    "unauthenticated",
    "two_credentials",
    "forbidden",
    ...(takesScopes ? (["insufficient_scope"] as const) : []),
    // Returned for the key of another connector.
    ...(rule.connectorKey ? (["not_found"] as const) : []),
  ];
}

function ofRequest({ request }: RouteConfig): ErrorCode[] {
  const isPaged = shapeOf(request?.query)?.["cursor"] !== undefined;
  return [
    ...(request?.params === undefined ? [] : (["not_found"] as const)),
    ...(request?.body === undefined ? [] : (["payload_too_large", "unsupported_media_type"] as const)),
    ...(isPaged ? (["invalid_cursor"] as const) : []),
  ];
}

/** The codes that the route itself declares. */
export function ownCodes({ responses }: RouteConfig): ErrorCode[] {
  const answer: unknown = responses["default"];
  if (typeof answer !== "object" || answer === null || !(OWN_CODES in answer)) return [];
  // `problems` has set this value.
  return answer[OWN_CODES] as ErrorCode[];
}

export function statusOf(code: ErrorCode): number {
  return ERROR_CLASSES[ERROR_CODES[code]].status;
}

function codesOfStatus(status: number): ErrorCode[] {
  // The keys of the table are the codes.
  return (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => statusOf(code) === status);
}

function isUnsafe({ method }: RouteConfig): boolean {
  return method !== "get" && method !== "head";
}
