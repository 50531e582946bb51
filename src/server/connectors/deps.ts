import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Parts } from "#storage/records/parts.ts";
import type { SourceProblem } from "#api/common.ts";
import type { ConnectorActivity } from "#api/connector-records.ts";
import type { Policy } from "#storage/policy/policy.ts";
import type { CursorCodec } from "#server/http/cursor.ts";
import { ApiError, noSuchThing } from "#api/errors.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { Sleep } from "#core/clock.ts";
import type { QuotaKeeper } from "#server/identity/workspaces/quotas.ts";
import type { Source } from "#sources/contract.ts";
import type { SourceHttpPool } from "#sources/http/pool.ts";
import type { ConnectorRecord, ConnectorState } from "#storage/records/connectors.ts";
import type { Believing } from "#storage/access/clocks.ts";
import type { SyncMode, SyncRecord, SyncTrigger } from "#storage/records/syncs.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import { type JudgeAct, manages } from "./judge.ts";
import type { ConnectorAccounts, ConnectorConnections, CredentialKeeper } from "./credentials.ts";
import type { OfferedSecrets } from "./offered-secrets.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

/** The source kinds that this program has. */
export interface SourceRegistry {
  find(providerId: string): Promise<Source | undefined> | Source | undefined;
  list(): Promise<readonly Source[]> | readonly Source[];
}

/** The reason why kb can't watch a source. Times are in epoch milliseconds. */
export interface WatchFault {
  since: number;
  nextTryAt: number;
  problem: SourceProblem;
}

/** The functions of the sync engine that connectors need; implemented by `sync/control.ts`. */
export interface SyncControl {
  /**
   * Requests a run in the transaction of the change that causes it. If a run is queued already, no second one is
   * queued.
   */
  request(
    tx: Store,
    workspaceId: string,
    connector: ConnectorRecord,
    wish: {
      trigger: SyncTrigger;
      mode?: SyncMode;
      items?: readonly string[];
      /** The run that reads people and groups, for which the requested run waits. */
      peopleSyncId?: string;
    },
  ): Promise<SyncRecord>;
  /**
   * Compares the place and account with which the connector's cursor, state and items were read to the current ones. If
   * either differs, discards them at once, whether or not a run is active. Call it in the transaction of the change.
   *
   * @returns the connector as it is now
   */
  rebind(tx: Store, workspaceId: string, source: Source, connector: ConnectorRecord): Promise<ConnectorRecord>;
  /**
   * Treats everything stored as read with another account until it is read again. Items that the next reading doesn't
   * report are removed without the guard over removals. Call it in the transaction of the change.
   *
   * @returns the connector as it is now
   */
  invalidateReading(tx: Store, workspaceId: string, connector: ConnectorRecord): Promise<ConnectorRecord>;
  /**
   * Does the same as `invalidateReading`, and hides all items from everyone. Call `removeHidden` after the transaction.
   */
  hide(tx: Store, workspaceId: string, source: Source, connector: ConnectorRecord): Promise<ConnectorRecord>;
  /**
   * Removes the items that a hidden connector had read before, and shows the rest. Does nothing if the connector isn't
   * hidden.
   */
  removeHidden(workspaceId: string, connectorId: string): Promise<void>;
  /** Gives the people in the connector's config access at once, in the transaction of the change. */
  nameReaders(tx: Store, workspaceId: string, source: Source, connector: ConnectorRecord): Promise<void>;
  /** Requests a run that reads memberships, in the transaction of the change that causes it. */
  requestIdentities(tx: Store, workspaceId: string, connector: ConnectorRecord): Promise<SyncRecord>;
  /**
   * Requests such a run for a person who wants it now, at most once a minute. A request within that minute waits until
   * it is over. With `isFirst`, the run is listed after the run that waits for it.
   */
  askForIdentities(
    tx: Store,
    workspaceId: string,
    connector: ConnectorRecord,
    place?: { isFirst?: true },
  ): Promise<SyncRecord>;
  /** Whether a run that a person requests has to wait until people and groups have been read. */
  readsPeopleFirst(source: Source): boolean;
  /** Cancels an unfinished run. @throws ApiError `sync_not_running` */
  cancel(tx: Store, workspaceId: string, sync: SyncRecord): Promise<SyncRecord>;
  /** Cancels every run of the connector. */
  cancelAll(tx: Store, workspaceId: string, connectorId: string): Promise<SyncRecord[]>;
  /** Counts the connector's items, including files inside files, that were read by an older version of the reader. */
  countOlder(on: Pick<WorkspaceStore, "itemWrites">, connectorId: string): Promise<number>;
  /** Returns those of these source items that were read by an older version of the reader, completely or in part. */
  olderAmong(
    on: Pick<WorkspaceStore, "itemWrites">,
    connectorId: string,
    externalIds: readonly string[],
  ): Promise<Set<string>>;
  /** The connector's current activity, in the source's own words. */
  activityOf(on: Store, workspaceId: string, connector: ConnectorRecord): Promise<ConnectorActivity>;
  /** The connector's state after a person's action. @throws ApiError `connector_state_conflict` */
  nextState(state: ConnectorState, event: "pause" | "resume" | "delete"): ConnectorState;
  /** Signals that a job was queued and that these runs were requested to end. Call it after the commit. */
  signal(cancelled?: readonly SyncRecord[]): void;
  /**
   * When the connector is next due: by its schedule, or earlier if its permissions have to be confirmed. Null if it
   * runs only on request.
   */
  nextRunOf(
    spec: Source["spec"],
    connector: Pick<ConnectorRecord, "aclCheckedAt" | "proofTriedAt" | "everyMinutes">,
    age: Believing,
  ): number | null;
}

/** Dependencies of every function of the connector service. */
export interface ConnectorDeps extends Pick<Parts, "store" | "clock" | "randomBytes" | "log"> {
  audit: AuditRecorder;
  cursors: CursorCodec;
  sources: SourceRegistry;
  syncs: SyncControl;
  /** Decides who may do which action on a connector. */
  judgeAct: JudgeAct;
  credentials: CredentialKeeper;
  accounts: Pick<ConnectorAccounts, "own">;
  connections: ConnectorConnections;
  webhookSecrets: WebhookSecrets;
  offeredSecrets: OfferedSecrets;
  /** The origin of all links. */
  baseUrl: string;
  /** The HTTP connections from sources to their providers. */
  http: SourceHttpPool;
  policy: Pick<Policy, "mayRead" | "readList" | "viewerIn">;
  quotas: QuotaKeeper;
  /** Why kb can't watch the connector's source. Undefined if kb watches it, or doesn't try to. */
  watchFault(connectorId: string): WatchFault | undefined;
  sleep: Sleep;
}

/**
 * Returns the connector if the actor manages it: as its owner, or with an admin's rights.
 *
 * @throws ApiError `not_found` for everyone else, since they may not know whether it exists
 */
export async function requireManaged(store: Store, actor: Actor, connectorId: string): Promise<ConnectorRecord> {
  const connector = await store.in(actor.workspaceId).connectors.find(connectorId);
  if (connector && manages(actor, connector)) return connector;
  throw noSuchThing();
}

/** @throws ApiError `provider_unknown` */
export async function requireSource(sources: SourceRegistry, providerId: string): Promise<Source> {
  const source = await sources.find(providerId);
  if (source) return source;
  const known = (await sources.list()).map((each) => each.spec.providerId).sort();
  throw new ApiError("provider_unknown", {
    message: `There is no source "${providerId}". Available sources: ${known.join(", ")}.`,
    field: "providerId",
  });
}
