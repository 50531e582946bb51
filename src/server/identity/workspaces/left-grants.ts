import type { EndedConnection } from "#storage/records/connections.ts";

/**
 * Notifies the provider code of the connections of people who left, so that it revokes their tokens at the provider.
 */
export type LeftGrants = ReturnType<typeof makeLeftGrants>;

export function makeLeftGrants() {
  let listener: ((workspaceId: string, connections: readonly EndedConnection[]) => void) | undefined;
  return {
    /** Called after the commit, when the secrets of the connections are already deleted here. */
    end: (workspaceId: string, connections: readonly EndedConnection[]): void => listener?.(workspaceId, connections),
    /** Registers the listener. The provider code calls it once. */
    listen: (end: (workspaceId: string, connections: readonly EndedConnection[]) => void): void =>
      void (listener = end),
  };
}
