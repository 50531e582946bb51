import { throttleKeyOfIp } from "#net/client-ip.ts";
import type { Throttle } from "#server/http/throttle.ts";
import type { RequestOrigin } from "#storage/access/actor.ts";
import { emailKeyOf } from "#storage/records/people.ts";

/**
 * Counts an attempt against the client's address and, if given, against the account.
 *
 * @throws ApiError `rate_limited`
 */
export function takeTry(throttle: Throttle, origin: RequestOrigin, email?: string): void {
  for (const key of keysOfTry(origin, email)) throttle.take(key);
}

/** Takes back the count of a legitimate try. */
export function giveTryBack(throttle: Throttle, origin: RequestOrigin, email?: string): void {
  for (const key of keysOfTry(origin, email)) throttle.giveBack(key);
}

/**
 * Returns the buckets of a try: the client's address (an IPv6 /64 as one) and the account, whether or not it exists.
 */
export function keysOfTry(origin: RequestOrigin, email?: string): string[] {
  const ip = `ip ${throttleKeyOfIp(origin.clientIp)}`;
  return email === undefined ? [ip] : [ip, `account ${emailKeyOf(email)}`];
}
