/** Requests that runs of groups and users have sent to the provider, and how many are allowed a minute. */
export interface Sent {
  requests: number;
  perMinute: number;
}

/** Least time between two scheduled runs. */
export const LEAST_INTERVAL_MS = 15 * 60_000;
/** The same where reading all groups costs next to nothing. */
export const OFTEN_MS = 5 * 60_000;

/**
 * The largest share of an hour's requests that a run may use to be repeated every 5 minutes: at that rate they use 12
 * %.
 */
const CHEAP_SHARE = 0.01;
/** The share of a credential's requests that runs of groups and users may use. */
const BUDGET_SHARE = 0.3;
/** After a quiet time, notifications may use this much of the share at once. */
const AT_ONCE_MS = 5 * 60_000;
/** Upper bound, whatever an earlier clock said. */
const LONGEST_MS = 3_600_000;

/**
 * How long a run rests: 5 minutes where it used at most a hundredth of what the credential may send in an hour, else
 * 15; at least four times as long as it read, and until its requests are less than a third of what the credential may
 * send, since syncs use it too. At most half of the age at which permissions are no longer believed.
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
 * The time until which a run that a notification asked for has used up the share. Each run takes as much time of the
 * share as its requests cost, and at least that of one request: anyone with the secret of a webhook can make kb send
 * that share and no more, whatever they send.
 *
 * @param paidUntil  of the run before; null = there was none
 */
export function paidAfter(paidUntil: number | null, { requests, perMinute }: Sent, now: number): number {
  return Math.max(paidUntil ?? 0, now) + priceOf({ requests: Math.max(1, requests), perMinute });
}

/** The earliest time for the next run that a notification asks for, not before `wanted`. */
export function paidRunAt(paidUntil: number | null, wanted: number): number {
  return Math.max(wanted, Math.min((paidUntil ?? 0) - AT_ONCE_MS, wanted + LONGEST_MS));
}

/** The time in which the share of groups and users amounts to this many requests. */
function priceOf({ requests, perMinute }: Sent): number {
  return (requests / (perMinute * BUDGET_SHARE)) * 60_000;
}
