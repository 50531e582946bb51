/** Revisions of MCP that open with `initialize`, oldest first. */
export const LEGACY_PROTOCOL_VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;

/** What `initialize` answers when it is asked for a revision we don't know. */
export const LATEST_LEGACY_PROTOCOL_VERSION = "2025-11-25";

/** Revisions that carry their version in each request's `_meta` and open with `server/discover`. */
export const MODERN_PROTOCOL_VERSIONS = ["2026-07-28"] as const;

/** What kb has none of, by the method that lists it: hosts ask for it whatever a server declares, and some drop one that answers with an error. */
const EMPTY_LISTS: ReadonlyMap<string, string> = new Map([
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
  ["prompts/list", "prompts"],
]);

/** The answer to a method that lists what kb has none of; undefined for every other method. */
export function emptyList(method: string): Record<string, []> | undefined {
  const member = EMPTY_LISTS.get(method);
  return member === undefined ? undefined : { [member]: [] };
}
