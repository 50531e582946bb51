import type { EndedJoin } from "#storage/batch/people-batch.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";

/** What a run of identities does with its outcome besides storing it; `server/connectors` gives it. */
export interface PeopleHooks {
  /** Whether users of the connector's instance may be members here. */
  isTrusted(workspaceId: string, connector: ConnectorRecord): Promise<boolean>;
  onEnded(workspaceId: string, connectorId: string, joins: readonly EndedJoin[]): Promise<void>;
  /** After a run: links whom their verified addresses name. */
  link(workspaceId: string, connectorId: string): Promise<void>;
}
