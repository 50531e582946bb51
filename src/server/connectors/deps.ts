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

/** The kinds of apps this program knows. */
export interface SourceRegistry {
  find(providerId: string): Promise<Source | undefined> | Source | undefined;
  list(): Promise<readonly Source[]> | readonly Source[];
}

/** The reason why kb can't watch a source. Times are epoch ms. */
export interface WatchFault {
  since: number;
  nextTryAt: number;
  problem: SourceProblem;
}

/** The part of the sync engine that connectors need; provided by `sync/control.ts`. */
export interface SyncControl {
  /** Requests a run in the transaction of its reason; joins the queued one. */
  request(
    tx: Store,
    workspaceId: string,
    connector: ConnectorRecord,
    wish: {
      trigger: SyncTrigger;
      mode?: SyncMode;
      items?: readonly string[];
      /** The reading of people and groups that it waits for. */
      peopleSyncId?: string;
    },
  ): Promise<SyncRecord>;
  /**
   * Compares the place and account that its cursor, state and items were read with to the current ones, in the
   * transaction of the change: another place or account ends them at once, whether it runs or not.
   *
   * @returns the connector as it is now
   */
  rebind(tx: Store, workspaceId: string, source: Source, connector: ConnectorRecord): Promise<ConnectorRecord>;
  /**
   * Treats everything stored as read with another account until it is read again: items that aren't named by then are
   * removed without the guard. In the transaction of the change.
   *
   * @returns the connector as it is now
   */
  invalidateReading(tx: Store, workspaceId: string, connector: ConnectorRecord): Promise<ConnectorRecord>;
  /** As `invalidateReading`, and no one can read any of it from now on; call `removeHidden` after the transaction. */
  hide(tx: Store, workspaceId: string, source: Source, connector: ConnectorRecord): Promise<ConnectorRecord>;
  /**
   * Removes the items that a withheld connector had read before, and shows the rest; does nothing if it isn't withheld.
   */
  removeHidden(workspaceId: string, connectorId: string): Promise<void>;
  /** Makes the people that its config names its readers at once, in the transaction of the change. */
  nameReaders(tx: Store, workspaceId: string, source: Source, connector: ConnectorRecord): Promise<void>;
  /** Requests a run that reads memberships, in the transaction of its reason. */
  requestIdentities(tx: Store, workspaceId: string, connector: ConnectorRecord): Promise<SyncRecord>;
  /**
   * The same for a person who wants it now, at most once a minute: a request within the minute waits until it is over.
   * With `isFirst` it is listed behind the run that waits for it.
   */
  askForIdentities(
    tx: Store,
    workspaceId: string,
    connector: ConnectorRecord,
    place?: { isFirst?: true },
  ): Promise<SyncRecord>;
  /** Whether a run that a person requests has to wait until people and groups are read. */
  readsPeopleFirst(source: Source): boolean;
  /** Ends a run that is not over. @throws ApiError `sync_not_running` */
  cancel(tx: Store, workspaceId: string, sync: SyncRecord): Promise<SyncRecord>;
  /** Ends every run of the connector. */
  cancelAll(tx: Store, workspaceId: string, connectorId: string): Promise<SyncRecord[]>;
  /** Items of the connector that an older reader has read, including files inside files. */
  countOlder(on: Pick<WorkspaceStore, "itemWrites">, connectorId: string): Promise<number>;
  /** Those of these source items that an older reader has read, or in which it has read something. */
  olderAmong(
    on: Pick<WorkspaceStore, "itemWrites">,
    connectorId: string,
    externalIds: readonly string[],
  ): Promise<Set<string>>;
  /** Its current activity, with the source's own words. */
  activityOf(on: Store, workspaceId: string, connector: ConnectorRecord): Promise<ConnectorActivity>;
  /** The connector's state after a person's act. @throws ApiError `connector_state_conflict` */
  nextState(state: ConnectorState, event: "pause" | "resume" | "delete"): ConnectorState;
  /** Call after the commit: a job was queued, and these runs were told to end. */
  signal(cancelled?: readonly SyncRecord[]): void;
  /** When it is next due: by its schedule, or sooner to prove its permissions; null = only on request. */
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
  /** Decides who may do which act on a connector. */
  judgeAct: JudgeAct;
  credentials: CredentialKeeper;
  accounts: Pick<ConnectorAccounts, "own">;
  connections: ConnectorConnections;
  webhookSecrets: WebhookSecrets;
  offeredSecrets: OfferedSecrets;
  /** The one origin of links. */
  baseUrl: string;
  /** The HTTP connections from sources to their providers. */
  http: SourceHttpPool;
  policy: Pick<Policy, "mayRead" | "readList" | "viewerIn">;
  quotas: QuotaKeeper;
  /** Why kb can't watch the connector's source; undefined if it does, or doesn't try. */
  watchFault(connectorId: string): WatchFault | undefined;
  sleep: Sleep;
}

/**
 * Returns the connector if the actor manages it: its owner, or a person who acts as an admin.
 *
 * @throws ApiError `not_found` for everyone else: they may not know whether it exists
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
