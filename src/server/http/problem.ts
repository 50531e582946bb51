import { randomBytes } from "node:crypto";
import { cleanText } from "#api/clean.ts";
import type { ProblemBody } from "#api/common.ts";
import { ApiError, ERROR_CLASSES } from "#api/errors.ts";
import { explainMissingPart } from "#core/build.ts";
import { defined } from "#core/defined.ts";
import type { Log } from "#core/log.ts";
import type { AppContext } from "./env.ts";

/** An error as the client sees it. */
export interface ProblemAnswer {
  status: number;
  headers: Record<string, string>;
  body: ProblemBody;
}

/** Returns the error itself if callers may see it, otherwise `internal` without any details. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const missing = explainMissingPart(error);
  if (missing !== undefined) return missing;
  return new ApiError("internal", {
    message: "Unexpected server error. Try again; if it persists, send the request ID to your administrator.",
    cause: error,
  });
}

/** Makes the response for any error. Source: RFC 9457. */
export function toProblem(error: unknown, requestId: string): ProblemAnswer {
  const failure = toApiError(error);
  const { status, title } = ERROR_CLASSES[failure.class];
  return {
    status,
    headers: {
      "Content-Type": "application/problem+json",
      "Cache-Control": "no-store",
      ...challengeOf(failure),
      ...retryAfterOf(failure),
    },
    body: {
      type: `urn:kb:problem:${failure.code}`,
      title,
      status,
      detail: cleanText(failure.message),
      code: failure.code,
      requestId,
      ...defined({ hint: failure.hint, field: failure.field, errors: failure.errors }),
    },
  };
}

/** The time after which to retry, if the error has one. */
export function retryAfterOf({ retryAfterMs }: ApiError): Record<string, string> {
  return retryAfterMs === undefined ? {} : { "Retry-After": String(Math.ceil(retryAfterMs / 1000)) };
}

/** The challenge to the client, for status 401 and for a missing scope. Source: RFC 6750 §3. */
export function challengeOf(failure: ApiError, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const isScope = failure.class === "insufficient_scope";
  if (failure.class !== "unauthenticated" && !isScope) return {};
  const { bearerError, scope } = failure.details ?? {};
  const error = isScope ? "insufficient_scope" : bearerError;
  const parts = {
    realm: "kb",
    ...(typeof error === "string" && { error }),
    ...(isScope && typeof scope === "string" && { scope }),
    ...more,
  };
  const text = Object.entries(parts).map(([name, value]) => `${name}="${value}"`);
  return { "WWW-Authenticate": `Bearer ${text.join(", ")}` };
}

/** Logs an error once if it is the server's fault. A caller's error gets no separate log line. */
export function logFailure(log: Log, error: unknown, fields: Record<string, unknown>): void {
  const failure = toApiError(error);
  if (failure.class === "internal") log.error({ ...fields, err: failure.cause ?? failure }, "request failed");
  else if (ERROR_CLASSES[failure.class].status >= 500) {
    log.warn({ ...fields, code: failure.code, err: failure.cause }, failure.message);
  }
}

/** Responds to a request with the problem, and logs it. */
export function answerProblem(c: AppContext, error: unknown, log: Log): Response {
  // Unset only if the error happened before the first middleware.
  const requestId: string | undefined = c.get("requestId");
  const answer = toProblem(error, requestId ?? `req_${randomBytes(8).toString("hex")}`);
  logFailure(log, error, { requestId: answer.body.requestId, method: c.req.method, path: c.req.path });
  return new Response(JSON.stringify(answer.body), { status: answer.status, headers: answer.headers });
}
