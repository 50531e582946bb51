/**
 * The header that lists the instances of kb that a request has passed through, the sender last. An instance that finds
 * itself or too many others in it refuses the request. Otherwise two instances that are each other's provider server
 * would call each other forever. Source: S31.
 */
export const HOPS_HEADER = "kb-hops";

/** Limit of instances: one instance may request from a second, and the second from a third. */
export const MAX_HOPS = 2;

/**
 * Returns the instances that a request has passed through, from the value of the header. Entries that can't be an
 * instance's id are included.
 */
export function parseHops(value: string | null | undefined): string[] {
  if (value === null || value === undefined || value.trim() === "") return [];
  return value
    .slice(0, 1_000)
    .split(",")
    .map((hop) => hop.trim().slice(0, 64));
}

/** Whether the instance must refuse a request that passed through these instances. */
export function isLoop(hops: readonly string[], instanceId: string): boolean {
  return hops.length > MAX_HOPS || hops.includes(instanceId);
}
