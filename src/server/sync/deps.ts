import { ApiError } from "#api/errors.ts";
import type { AnalyzedText, DocumentFields } from "#text/analyzer.ts";
import { defined } from "#core/defined.ts";
import type { FaultLog } from "#core/faults.ts";
import type { Log } from "#core/log.ts";
import type { Spool } from "#core/spool.ts";
import type { RandomBytes } from "#core/clock.ts";
import type { Extractor } from "#extract/extractor.ts";
import type { Emit } from "#server/events/outbox.ts";
import type { QuotaKeeper } from "#server/identity/workspaces/quotas.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import type { HttpGrant, SourceHttpPool } from "#sources/http/pool.ts";
import type { Authority } from "#core/principals.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { ReaderVersionOf } from "#storage/records/older-items.ts";
import type { Store } from "#storage/records/store.ts";
import type { ListingLimits } from "./listing-limits.ts";
import type { ByteBudget } from "./bytes/byte-budget.ts";
import type { PeopleHooks } from "./people-hooks.ts";

/** Dependencies of sync work. */
export interface SyncDeps {
  store: Store;
  /** The source of a provider; undefined if this program has no source of that name. */
  findSource(providerId: string): Promise<Source | undefined> | Source | undefined;
  extractor: Pick<Extractor, "extract">;
  analyze: (fields: DocumentFields) => AnalyzedText;
  /** The principals that a run of the connector may name, as `core/principals.ts` judges it. Source: S2. */
  loadAuthority(workspaceId: string, source: Source, connector: ConnectorRecord): Promise<Authority>;
  /** Returns the item without the people whom this authority may not name. */
  withoutUnknownPeople(item: SourceItem, authority: Authority): SourceItem;
  /** Handles users of sources. Absent = no user is matched to a member. */
  people?: PeopleHooks;
  /** The connector's credentials and their state; absent = no connector has credentials. */
  credentialsOf?(
    workspaceId: string,
    connector: ConnectorRecord,
  ): Promise<Pick<HttpGrant, "credentials" | "account"> & Pick<SourceContext<unknown>, "mcp">>;
  /** Runs the scheduled upkeep of a person's account; absent = there are no accounts. */
  keepAccount?(workspaceId: string, accountId: string): Promise<void>;
  /** Revokes tokens that a provider issued if no one confirmed the flow in time. */
  endLapsedFlow?(flowHash: string): Promise<void>;
  /** Checks a provider server when its check is due. */
  probeServer?(workspaceId: string, serverId: string): Promise<void>;
  /** Emits events to the workspace's systems; absent = none are emitted. */
  emit?: Emit;
  /** Manages subscriptions to notifications. Absent = no provider sends notifications to this server. */
  subscribing?: Subscribing;
  /** The HTTP connections from sources to their providers. */
  http: Pick<SourceHttpPool, "for">;
  /** Whether the workspace keeps secrets in texts, so that they can be found. Source: S37. */
  keepsSecrets(workspaceId: string): Promise<boolean>;
  /** Counts items and texts against quotas. Absent = no limits apply. */
  quotas?: Pick<QuotaKeeper, "takeItem" | "noteText">;
  /** The version of each reader. Default: the versions in this program. */
  readerVersionOf?: ReaderVersionOf;
  /** Stores the bytes of large files on the disk. */
  spool: Spool;
  /** Limits the bytes of files that all runs hold. */
  budget: ByteBudget;
  /** Limits how much one run lists. Default: one hour, or 20,000 folders and requests. */
  listing?: ListingLimits;
  /** Logs faults of kb; absent = they aren't logged. */
  faults?: FaultLog;
  now: () => number;
  randomBytes: RandomBytes;
  log: Log;
  /** The number of items that a run reads and extracts at once. Default: 4. */
  parallel?: number;
  /**
   * Waits for a moment without searches before an item is started, so that people's searches come first. Absent = items
   * start at once.
   */
  waitForGap?(): Promise<void>;
}

/** How connectors subscribe to notifications at their providers. */
export interface Subscribing {
  /** The providers whose sources support subscriptions. Empty if no provider can reach this server. */
  providerIds: readonly string[];
  /** The URL that the provider notifies. */
  urlOf(connector: Pick<ConnectorRecord, "providerId" | "connectorId">): string;
  /** The secret with which `verify` checks this connector's notifications. Makes one if there is none. */
  secretFor(workspaceId: string, connectorId: string): Promise<{ secret: string; madeAt: number }>;
}

/** Adds the instance whose users the source names to the context. */
export function atInstance(context: SourceContext<unknown>, { users }: Authority): SourceContext<unknown> {
  return users === undefined ? context : { ...context, connector: { ...context.connector, instance: users.instance } };
}

/**
 * Makes the context with which a source is called for this connector.
 *
 * @throws ApiError `connector_config_invalid` when this version's source no longer accepts the stored config,
 *   `secret_unreadable` when its credentials can't be opened
 */
export async function makeContext(
  { now, log, credentialsOf, http, store }: Pick<SyncDeps, "now" | "log" | "credentialsOf" | "http" | "store">,
  workspaceId: string,
  source: Source,
  connector: ConnectorRecord,
  signal: AbortSignal,
): Promise<SourceContext<unknown>> {
  const config = source.spec.config.safeParse(connector.config);
  if (!config.success) {
    const message = `The connector's config is not valid in this version: ${config.error.issues[0]?.message ?? "invalid"}`;
    throw new ApiError("connector_config_invalid", { message });
  }
  const about = { connectorId: connector.connectorId, providerId: connector.providerId };
  const { connectorId: id, name, visibility } = connector;
  const owner = `user:${connector.ownerUserId}`;
  const { mcp, ...standing } = (await credentialsOf?.(workspaceId, connector)) ?? { credentials: {} };
  return {
    config: config.data,
    connector: { id, name, visibility, owner },
    ...http.for({ source, config: config.data, ...standing, signal, isRun: true }),
    ...defined({ mcp }),
    signal,
    maxAclAgeMs: await store.in(workspaceId).access.maxAclAgeMs(),
    now,
    log: (message, fields) => log.info({ ...about, ...fields }, message),
  };
}

/**
 * How a job ended. `done`: the job is finished. `again`: the job is due again at that time. `settled`: the queue is up
 * to date already, or another worker has the job.
 */
export type JobEnd = { type: "done" } | { type: "again"; at: number } | { type: "settled" };
