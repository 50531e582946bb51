import type { EndedJoin } from "#storage/people-batch.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";

/** Callbacks for a run that reads groups and users, besides storing its result. `server/connectors` provides them. */
export interface PeopleHooks {
  /** Whether users of the connector's instance may be members here. */
  isTrusted(workspaceId: string, connector: ConnectorRecord): Promise<boolean>;
  onEnded(workspaceId: string, connectorId: string, joins: readonly EndedJoin[]): Promise<void>;
  /** After a run: links the members whose verified addresses match. */
  link(workspaceId: string, connectorId: string): Promise<void>;
}
