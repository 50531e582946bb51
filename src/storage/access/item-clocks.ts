import type { Principal } from "#core/principals.ts";

/** The clock of items that the source refused, which is never trusted. */
export const NEVER = 0;

/**
 * The principal for a connector's readers, which every access of its items names. With `at`, the principal is valid
 * only while permissions that were checked at that time are trusted. The policy decides who holds it, so the passage of
 * time hides an item everywhere at once, also in counts, facets and term statistics. Sources and pushes can't name it,
 * because the grammar of principals doesn't allow it.
 */
export function connectorPrincipal(connectorId: string, at: number | null = null): Principal {
  return at === null ? `group:connector:${connectorId}` : `group:connector:${connectorId}:${at}`;
}

/**
 * The principal for a connection's owner and the people with whom it is shared. Like `connectorPrincipal`, sources and
 * pushes can't name it.
 */
export function connectionPrincipal(connectionId: string): Principal {
  return `group:connection:${connectionId}`;
}

/**
 * Returns the principals that every access of a connector's items requires in addition to the source's own lists,
 * however the item is stored. Source: S5.
 */
export function groupsAlways({ connectorId, connectionId }: { connectorId: string; connectionId: string | null }) {
  return [connectorPrincipal(connectorId), ...(connectionId === null ? [] : [connectionPrincipal(connectionId)])];
}

/** Whether a list consists of `connectorPrincipal`, at any instant. */
export function isConnectorList([only, ...others]: readonly Principal[], connectorId: string): boolean {
  const plain = connectorPrincipal(connectorId);
  return others.length === 0 && only !== undefined && (only === plain || only.startsWith(`${plain}:`));
}
