/** Requests that runs of groups and users have sent to the provider, and how many there may be a minute. */
export interface Sent {
  requests: number;
  perMinute: number;
}

/** Least time between two runs that follow each other by schedule. */
export const LEAST_INTERVAL_MS = 15 * 60_000;
/** The same where a look at all groups costs next to nothing. */
export const OFTEN_MS = 5 * 60_000;

/** What a run may take of the requests of an hour to be done every 5 minutes: 12 % of them, then. */
const CHEAP_SHARE = 0.01;
/** What runs of groups and users may take of the requests of a credential. */
const BUDGET_SHARE = 0.3;
/** Notifications may have so much of this share at once, after a time without any. */
const AT_ONCE_MS = 5 * 60_000;
/** Whatever a clock said before. */
const LONGEST_MS = 3_600_000;

/**
 * How long a run rests: 5 minutes where it took at most a hundredth of what the credential may send in an hour, else 15; four
 * times as long as it read, and until its requests are less than a third of what the credential may send, since syncs send by
 * it too. No longer than half of the age at which permissions are not believed any more.
 *
 * @param isMirror  false: what the config names is told as groups, which change with it alone
 */
export function restAfter(
  { requests, perMinute }: Sent,
  tookMs: number,
  { maxAclAgeMs, isMirror = true }: { maxAclAgeMs: number; isMirror?: boolean },
): number {
  const isCheap = requests <= CHEAP_SHARE * perMinute * 60;
  const leastMs = isCheap && isMirror ? OFTEN_MS : LEAST_INTERVAL_MS;
  const budgetMs = priceOf({ requests, perMinute }) - tookMs;
  return Math.max(leastMs, 4 * tookMs, Math.min(budgetMs, maxAclAgeMs / 2 - tookMs));
}

/**
 * Until when a run that a notification asked for is paid for. Each takes so much time of the share as its requests are, and at
 * least that of one: anyone with the secret of a webhook makes kb send that share and no more, whatever they say.
 *
 * @param paidUntil  of the run before; null = there was none
 */
export function paidAfter(paidUntil: number | null, { requests, perMinute }: Sent, now: number): number {
  return Math.max(paidUntil ?? 0, now) + priceOf({ requests: Math.max(1, requests), perMinute });
}

/** When the next run that a notification asks for may begin, not before `wanted`. */
export function paidRunAt(paidUntil: number | null, wanted: number): number {
  return Math.max(wanted, Math.min((paidUntil ?? 0) - AT_ONCE_MS, wanted + LONGEST_MS));
}

/** The time in which the share of groups and users comes to so many requests. */
function priceOf({ requests, perMinute }: Sent): number {
  return (requests / (perMinute * BUDGET_SHARE)) * 60_000;
}
