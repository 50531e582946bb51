import type { EndedConnection } from "#storage/records/connections.ts";

/** Tells the code that knows providers which tokens of people who left are to be ended there. */
export type LeftGrants = ReturnType<typeof makeLeftGrants>;

export function makeLeftGrants() {
  let listener: ((workspaceId: string, connections: readonly EndedConnection[]) => void) | undefined;
  return {
    /** After the commit: here their secrets are deleted already. */
    end: (workspaceId: string, connections: readonly EndedConnection[]): void => listener?.(workspaceId, connections),
    /** Set once, by the code that knows providers. */
    listen: (end: (workspaceId: string, connections: readonly EndedConnection[]) => void): void =>
      void (listener = end),
  };
}
