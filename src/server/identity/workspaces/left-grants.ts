import type { EndedConnection } from "#storage/records/connections.ts";

/** Notifies the provider code of the connections of people who left, whose tokens are to be revoked at the provider. */
export type LeftGrants = ReturnType<typeof makeLeftGrants>;

export function makeLeftGrants() {
  let listener: ((workspaceId: string, connections: readonly EndedConnection[]) => void) | undefined;
  return {
    /** Called after the commit, when their secrets are already deleted here. */
    end: (workspaceId: string, connections: readonly EndedConnection[]): void => listener?.(workspaceId, connections),
    /** Set once, by the provider code. */
    listen: (end: (workspaceId: string, connections: readonly EndedConnection[]) => void): void =>
      void (listener = end),
  };
}
