import { ApiError } from "#api/errors.ts";
import type { Actor } from "#storage/access/actor.ts";

/**
 * Counts one tool call. Returns the milliseconds to wait if the person is over their limit; `isHard` if they are far
 * over it. Absent = no limit.
 */
export type Charge = ((actor: Actor) => { retryAfterMs: number; isHard: boolean } | undefined) | undefined;

/** Counts a call. @throws ApiError `rate_limited`, for which `isFarOver` is true if the person is far over the limit */
export function chargeCall(charge: Charge, actor: Actor): void {
  const over = charge?.(actor);
  if (over === undefined) return;
  const seconds = Math.max(1, Math.ceil(over.retryAfterMs / 1000));
  throw new ApiError("rate_limited", {
    message: `Too many calls with this token. Wait ${seconds} seconds, then repeat the call.`,
    retryAfterMs: over.retryAfterMs,
    ...(over.isHard && { details: { [HARD]: true } }),
  });
}

/** Counts a request that can't be read as a call. It costs as much as a call. @throws ApiError `rate_limited` */
export function chargeMalformed(charge: Charge, actor: Actor): void {
  const over = charge?.(actor);
  if (over === undefined) return;
  throw new ApiError("rate_limited", {
    message: "Too many malformed requests with this token. Wait, then send well-formed ones.",
    retryAfterMs: over.retryAfterMs,
  });
}

/**
 * Whether the error refuses a person who is far over their limit. Such a request gets HTTP 429 instead of a result.
 * Source: B18.
 */
export function isFarOver(error: ApiError): boolean {
  return error.details?.[HARD] === true;
}

const HARD = "hard";
