import type { SqlHandles } from "#storage/handles.ts";
import { onFirstUse } from "#storage/on-first-use.ts";
import { makeAccessStore } from "./access.ts";
import { makeAccountFlowStore, makeAccountStore } from "./accounts.ts";
import { makeAuditStore } from "./audit.ts";
import { makeConnectionLookup, makeConnectionStore } from "./connections.ts";
import { makeConnectorHealthStore } from "./connector-health.ts";
import { makeConnectorStore } from "./connectors.ts";
import { makeEntityStore } from "./entities.ts";
import { makeEventDeliveryStore } from "./event-deliveries.ts";
import { makeEventQueueStore, makeEventTargetStore } from "./event-targets.ts";
import { makeGrantStore } from "./grants.ts";
import { makeGroupStore } from "./groups.ts";
import { makeIdentityStore } from "./identities.ts";
import { makeIdentityScheduleStore } from "./identity-schedules.ts";
import { makeIdempotencyStore } from "./idempotency.ts";
import { makeInstallationStore } from "./installation.ts";
import { makeInstanceStore } from "./instances.ts";
import { makeItemWriteStore } from "./item-writes.ts";
import { makeItemStore } from "./items.ts";
import { makeLinkStore } from "./links.ts";
import { makeMemberStore } from "./members.ts";
import { makeNameStore } from "./names.ts";
import { makeOAuthStore } from "./oauth.ts";
import { makeInvitationStore, makeUserStore, makeWorkspaceRecordStore } from "./people.ts";
import { makeProviderServerLookup, makeProviderServerStore } from "./provider-servers.ts";
import { makePushUploadStore } from "./push-uploads.ts";
import { makeQueueStore } from "./queue.ts";
import { makeSealedStore } from "./sealed.ts";
import { makeSessionStore } from "./sessions.ts";
import { makeSourcePeopleStore } from "./source-people.ts";
import { makeSsoStore } from "./sso.ts";
import { makeSyncStore } from "./syncs.ts";
import { makeTieStore } from "./ties.ts";
import { makeTokenLookup, makeTokenStore } from "./tokens.ts";
import { makeUsageStore } from "./usage.ts";
import { makeWebhookSubscriptionStore } from "./webhook-subscriptions.ts";
import { makeWebhookLookup } from "./webhooks.ts";

/**
 * The records. A workspace's data is only reached through `in(workspaceId)`; the other members are for requests whose
 * workspace isn't known yet. Each member is created on first use.
 */
export interface Store extends Records {
  in(workspaceId: string): WorkspaceStore;
  /**
   * Runs `work` in one writing transaction and returns its result: all or nothing, as if there were no other writer
   * (serializable). `work` may run again from the start when the database requires it. It must use only the store that
   * is passed to it: no network, no waiting, no outside variable that a second run would change twice. A transaction
   * that is idle for 10 seconds is rolled back. Not nestable.
   */
  transaction<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /**
   * Runs `work` on one state of the database: everything that is read through the passed store was true at the same
   * moment. Writing through it fails. As in a transaction, `work` must use only that store.
   */
  snapshot<T>(work: (store: Store) => Promise<T>): Promise<T>;
}

/** The records of one workspace. */
export type WorkspaceStore = ReturnType<typeof makeWorkspaceStore>;

type Records = ReturnType<typeof makeRecords>;

/** Makes the store on SQL handles. The same code serves the whole database, a transaction and a snapshot. */
export function makeStore(sql: SqlHandles): Store {
  // Cached, because consecutive requests are mostly for one workspace, and its members take longer to create than to
  // use.
  let last: WorkspaceStore | undefined;
  return Object.assign(makeRecords(sql), {
    in(workspaceId: string): WorkspaceStore {
      if (last?.workspaceId !== workspaceId) last = makeWorkspaceStore(sql, workspaceId);
      return last;
    },
    transaction: <T>(work: (store: Store) => Promise<T>) =>
      sql.write.transaction().execute((trx) => work(makeStore({ read: trx, write: trx, writer: undefined }))),
    snapshot: <T>(work: (store: Store) => Promise<T>) =>
      sql.read.transaction().execute((trx) => work(makeStore({ read: trx, write: trx, writer: undefined }))),
  });
}

const makeRecords = onFirstUse({
  installation: makeInstallationStore,
  users: makeUserStore,
  workspaces: makeWorkspaceRecordStore,
  sessions: makeSessionStore,
  /** Links that were mailed or handed over. */
  links: makeLinkStore,
  sso: makeSsoStore,
  /** Authorization flows of account providers, and accounts that are due, across workspaces. */
  accountFlows: makeAccountFlowStore,
  /** Provider servers that are due for a probe, and unfinished connections, across workspaces. */
  dueServers: makeProviderServerLookup,
  pendingConnections: makeConnectionLookup,
  /** Finds a token or connector key by its hash, before its workspace is known. */
  tokenLookup: makeTokenLookup,
  /** The authorization server's own records. A grant belongs to a workspace once a person has decided. */
  oauth: makeOAuthStore,
  /** Finds the connector to which an app's notification belongs, before its workspace is known. */
  webhooks: makeWebhookLookup,
  /** Everything sealed by the vault, in any table. */
  sealed: makeSealedStore,
  /** The queue, which is claimed across workspaces. Every job names its own workspace. */
  queue: makeQueueStore,
  /** Event targets with a due delivery, across workspaces. */
  eventQueue: makeEventQueueStore,
  /** Every key contains a hash that identifies its workspace. */
  idempotency: makeIdempotencyStore,
});

const makeWorkspaceStore = onFirstUse({
  workspaceId: (_sql: SqlHandles, workspaceId: string) => workspaceId,
  members: makeMemberStore,
  invitations: makeInvitationStore,
  groups: makeGroupStore,
  tokens: makeTokenStore,
  grants: makeGrantStore,
  audit: makeAuditStore,
  access: makeAccessStore,
  sourcePeople: makeSourcePeopleStore,
  identities: makeIdentityStore,
  ties: makeTieStore,
  connectors: makeConnectorStore,
  connectorHealth: makeConnectorHealthStore,
  /** People's own accounts at other services. */
  accounts: makeAccountStore,
  /** Provider servers, and people's connections to them. */
  providerServers: makeProviderServerStore,
  connections: makeConnectionStore,
  webhookSubscriptions: makeWebhookSubscriptionStore,
  instances: makeInstanceStore,
  identitySchedules: makeIdentityScheduleStore,
  syncs: makeSyncStore,
  items: makeItemStore,
  itemWrites: makeItemWriteStore,
  entities: makeEntityStore,
  pushUploads: makePushUploadStore,
  eventTargets: makeEventTargetStore,
  eventDeliveries: makeEventDeliveryStore,
  usage: makeUsageStore,
  names: makeNameStore,
});
