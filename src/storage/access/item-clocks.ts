import type { Principal } from "#core/principals.ts";

/**
 * Why the permissions of an item were not looked at with those of the rest of its connector: the source refused it, the run
 * could not look there, it could not be read, or its removal waits for approval.
 */
export type ClockCause = "refused" | "not_looked_at" | "failed" | "held";

/** The clock of what was refused: it is never believed. */
export const NEVER = 0;

/**
 * Whom a connector is for, as every access of its items names them; with `at`, only while permissions that were looked at
 * then are believed. The policy decides who holds it, so time alone takes an item away everywhere at once: from counts,
 * facets and statistics of terms too. Nobody else can name it: it is no principal of the grammar.
 */
export function connectorPrincipal(connectorId: string, at: number | null = null): Principal {
  return at === null ? `group:connector:${connectorId}` : `group:connector:${connectorId}:${at}`;
}

/** Whose view is read through a connection, and with whom it is shared. Nobody else can name it, as the connector's. */
export function connectionPrincipal(connectionId: string): Principal {
  return `group:connection:${connectionId}`;
}

/** What every access of a connector's items asks for in addition to the source's own lists, however it is stored. Source: S5. */
export function groupsAlways({ connectorId, connectionId }: { connectorId: string; connectionId: string | null }) {
  return [connectorPrincipal(connectorId), ...(connectionId === null ? [] : [connectionPrincipal(connectionId)])];
}

/** Whether a list is that of `connectorPrincipal`, at whatever instant. */
export function isConnectorList([only, ...others]: readonly Principal[], connectorId: string): boolean {
  const plain = connectorPrincipal(connectorId);
  return others.length === 0 && only !== undefined && (only === plain || only.startsWith(`${plain}:`));
}
