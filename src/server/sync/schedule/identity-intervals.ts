/**
 * The number of requests that a run of groups and users has sent to the provider, and the number that are allowed a
 * minute.
 */
export interface Sent {
  requests: number;
  perMinute: number;
}

/** Minimum time between two scheduled runs. */
export const LEAST_INTERVAL_MS = 15 * 60_000;
/** Minimum time between two scheduled runs if reading all groups uses very few requests. */
export const OFTEN_MS = 5 * 60_000;

/**
 * The largest share of an hour's requests for which a run may be repeated every 5 minutes. Runs at that rate use 12 %
 * of the requests.
 */
const CHEAP_SHARE = 0.01;
/** The share of a credential's requests that runs of groups and users may use. */
const BUDGET_SHARE = 0.3;
/** After a time without notifications, runs may use this much time of the share at once. */
const AT_ONCE_MS = 5 * 60_000;
/** The longest delay, even if an earlier clock was wrong. */
const LONGEST_MS = 3_600_000;

/**
 * Returns how long to wait after a run of groups and users. The wait is 5 minutes if the run used at most a hundredth
 * of the requests that the credential may send in an hour, else 15 minutes. It is also at least four times as long as
 * the run took. It lasts until the run's requests are less than a third of what the credential may send, since syncs
 * use the credential too. For this last reason, the wait lasts at most half of the maximum age of permissions.
 *
 * @param isMirror  false: the readers that the config names are reported as groups, which change only with the config
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
 * Returns the time until which runs that notifications request have used up their share. Each run uses as much time of
 * the share as its requests cost, and at least the cost of one request. Anyone who has a webhook's secret can thus make
 * kb send that share of requests, but never more.
 *
 * @param paidUntil  the value after the previous run; null = there was none
 */
export function paidAfter(paidUntil: number | null, { requests, perMinute }: Sent, now: number): number {
  return Math.max(paidUntil ?? 0, now) + priceOf({ requests: Math.max(1, requests), perMinute });
}

/** Returns the earliest time for the next run that a notification requests, not before `wanted`. */
export function paidRunAt(paidUntil: number | null, wanted: number): number {
  return Math.max(wanted, Math.min((paidUntil ?? 0) - AT_ONCE_MS, wanted + LONGEST_MS));
}

/** Returns the time in which the share of groups and users amounts to this many requests. */
function priceOf({ requests, perMinute }: Sent): number {
  return (requests / (perMinute * BUDGET_SHARE)) * 60_000;
}
