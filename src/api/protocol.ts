/** MCP revisions that start with `initialize`, oldest first. */
export const LEGACY_PROTOCOL_VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;

/** The answer of `initialize` to a request for an unknown revision. */
export const LATEST_LEGACY_PROTOCOL_VERSION = "2025-11-25";

/** Revisions that carry their version in each request's `_meta` and start with `server/discover`. */
export const MODERN_PROTOCOL_VERSIONS = ["2026-07-28"] as const;

/**
 * Features that kb doesn't have, by the method that lists them. Hosts call the method even if the server doesn't declare the feature, and some drop a
 * server that answers with an error.
 */
const EMPTY_LISTS: ReadonlyMap<string, string> = new Map([
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["prompts/list", "prompts"],
]);

/** Returns the answer to a method that lists a missing feature; undefined for every other method. */
export function emptyList(method: string): Record<string, []> | undefined {
  const member = EMPTY_LISTS.get(method);
  return member === undefined ? undefined : { [member]: [] };
}
