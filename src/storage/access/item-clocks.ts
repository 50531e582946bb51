import type { Principal } from "#core/principals.ts";

/** The clock of refused items, which is never trusted. */
export const NEVER = 0;

/**
 * The principal for a connector's readers, which every access of its items names; with `at`, valid only while
 * permissions checked at that time are trusted. The policy decides who holds it, so time alone hides an item everywhere
 * at once: also in counts, facets and term statistics. No one else can name it, because the grammar of principals
 * doesn't allow it.
 */
export function connectorPrincipal(connectorId: string, at: number | null = null): Principal {
  return at === null ? `group:connector:${connectorId}` : `group:connector:${connectorId}:${at}`;
}

/** The principal for a connection's owner and the people it is shared with. No one else can name it, as with the connector's. */
export function connectionPrincipal(connectionId: string): Principal {
  return `group:connection:${connectionId}`;
}

/**
 * The principals that every access of a connector's items requires in addition to the source's own lists, however it is
 * stored. Source: S5.
 */
export function groupsAlways({ connectorId, connectionId }: { connectorId: string; connectionId: string | null }) {
  return [connectorPrincipal(connectorId), ...(connectionId === null ? [] : [connectionPrincipal(connectionId)])];
}

/** Whether a list is that of `connectorPrincipal`, at any instant. */
export function isConnectorList([only, ...others]: readonly Principal[], connectorId: string): boolean {
  const plain = connectorPrincipal(connectorId);
  return others.length === 0 && only !== undefined && (only === plain || only.startsWith(`${plain}:`));
}
