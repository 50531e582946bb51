/**
 * The header that lists the instances of kb that a request has passed through, the sender last. An instance that finds
 * itself there, or too many others, refuses the request: two instances that are each other's provider server would call
 * each other for ever. Source: S31.
 */
export const HOPS_HEADER = "kb-hops";

/** A request of one instance to a second, and of that to a third. */
export const MAX_HOPS = 2;

/**
 * The instances that a request has passed through, by the value of its header; entries that can't be an instance's id
 * count, too.
 */
export function parseHops(value: string | null | undefined): string[] {
  if (value === null || value === undefined || value.trim() === "") return [];
  return value
    .slice(0, 1_000)
    .split(",")
    .map((hop) => hop.trim().slice(0, 64));
}

/** Whether the instance has to refuse a request that came this way. */
export function isLoop(hops: readonly string[], instanceId: string): boolean {
  return hops.length > MAX_HOPS || hops.includes(instanceId);
}
