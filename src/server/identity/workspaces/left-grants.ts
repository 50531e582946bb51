import type { EndedConnection } from "#storage/records/connections.ts";

/** Tells the code that knows providers which tokens of people who left are to be ended there. */
export interface LeftGrants {
  /** After the commit: here their secrets are deleted already. */
  end(workspaceId: string, connections: readonly EndedConnection[]): void;
  /** Set once, by the code that knows providers. */
  listen(end: (workspaceId: string, connections: readonly EndedConnection[]) => void): void;
}

export function makeLeftGrants(): LeftGrants {
  let listener: ((workspaceId: string, connections: readonly EndedConnection[]) => void) | undefined;
  return {
    end: (workspaceId, connections) => listener?.(workspaceId, connections),
    listen: (end) => void (listener = end),
  };
}
