import type { EndedJoin } from "#storage/people-batch.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";

/** Callbacks for a run that reads groups and users, besides storing its result. `server/connectors` provides them. */
export interface PeopleHooks {
  /** Whether users of the connector's instance may be members of the workspace. */
  isTrusted(workspaceId: string, connector: ConnectorRecord): Promise<boolean>;
  onEnded(workspaceId: string, connectorId: string, joins: readonly EndedJoin[]): Promise<void>;
  /** Links the members whose verified addresses match. Called after a run. */
  link(workspaceId: string, connectorId: string): Promise<void>;
}
