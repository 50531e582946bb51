import type { SqlHandles } from "./handles.ts";
import { makeAccessStore } from "./records/access.ts";
import { makeAccountFlowStore, makeAccountStore } from "./records/accounts.ts";
import { makeAuditStore } from "./records/audit.ts";
import { makeConnectionLookup, makeConnectionStore } from "./records/connections.ts";
import { makeConnectorHealthStore } from "./records/connector-health.ts";
import { makeConnectorStore } from "./records/connectors.ts";
import { makeEntityStore } from "./records/entities.ts";
import { makeEventDeliveryStore } from "./records/event-deliveries.ts";
import { makeEventQueueStore, makeEventTargetStore } from "./records/event-targets.ts";
import { makeGrantStore } from "./records/grants.ts";
import { makeGroupStore } from "./records/groups.ts";
import { makeIdentityStore } from "./records/identities.ts";
import { makeIdentityScheduleStore } from "./records/identity-schedules.ts";
import { makeIdempotencyStore } from "./records/idempotency.ts";
import { makeInstallationStore } from "./records/installation.ts";
import { makeInstanceStore } from "./records/instances.ts";
import { makeItemWriteStore } from "./records/item-writes.ts";
import { makeItemStore } from "./records/items.ts";
import { makeLinkStore } from "./records/links.ts";
import { makeMemberStore } from "./records/members.ts";
import { makeNameStore } from "./records/names.ts";
import { makeOAuthStore } from "./records/oauth.ts";
import { makeInvitationStore, makeUserStore, makeWorkspaceRecordStore } from "./records/people.ts";
import { makeProviderServerLookup, makeProviderServerStore } from "./records/provider-servers.ts";
import { makePushUploadStore } from "./records/push-uploads.ts";
import { makeQueueStore } from "./records/queue.ts";
import { makeSealedStore } from "./records/sealed.ts";
import { makeSessionStore } from "./records/sessions.ts";
import { makeSourcePeopleStore } from "./records/source-people.ts";
import { makeSsoStore } from "./records/sso.ts";
import { makeSyncStore } from "./records/syncs.ts";
import { makeTieStore } from "./records/ties.ts";
import { makeTokenLookup, makeTokenStore } from "./records/tokens.ts";
import { makeUsageStore } from "./records/usage.ts";
import { makeWebhookSubscriptionStore } from "./records/webhook-subscriptions.ts";
import { makeWebhookLookup } from "./records/webhooks.ts";

/**
 * The records. What belongs to a workspace is reached through `in(workspaceId)` and through nothing else; the other
 * members are those that exist before a workspace is known. Each part is made when it is first used.
 */
export interface Store extends Records {
  in(workspaceId: string): WorkspaceStore;
  /**
   * Runs `work` in one writing transaction and gives what it gives: all of it or nothing, as if nobody else wrote
   * meanwhile (serializable). `work` may run again from its beginning where the database asks for it, so it touches
   * nothing but the store that it is given: no network, no waiting, no variable of its surroundings that a second run would
   * change twice. A transaction that sits idle for 10 seconds is rolled back. Not nestable.
   */
  transaction<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /**
   * Runs `work` on one state of the database: whatever is read through the given store was true at one moment. Writing
   * through it fails. Like a transaction, `work` touches nothing but the store that it is given.
   */
  snapshot<T>(work: (store: Store) => Promise<T>): Promise<T>;
}

/** The records of one workspace. */
export type WorkspaceStore = ReturnType<typeof makeWorkspaceStore>;

type Records = ReturnType<typeof makeRecords>;

/** The store on SQL. The same code serves the whole database, a transaction and a snapshot. */
export function makeStore(sql: SqlHandles): Store {
  return Object.assign(makeRecords(sql), {
    in: (workspaceId: string) => makeWorkspaceStore(sql, workspaceId),
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
  /** Ways to providers of accounts, and the accounts that are due, across workspaces. */
  accountFlows: makeAccountFlowStore,
  /** Servers of others that are due for a probe, and connections that nobody finished, across workspaces. */
  dueServers: makeProviderServerLookup,
  pendingConnections: makeConnectionLookup,
  /** Finds a token or connector key by its hash, before its workspace is known. */
  tokenLookup: makeTokenLookup,
  /** The authorization server's own records; grants belong to a workspace as soon as a person decided. */
  oauth: makeOAuthStore,
  /** Finds whom a notification of an app is for, before its workspace is known. */
  webhooks: makeWebhookLookup,
  /** What the vault has sealed, wherever it is. */
  sealed: makeSealedStore,
  /** The queue is claimed across workspaces; every job names its own. */
  queue: makeQueueStore,
  /** Targets of outgoing events with something due, across workspaces. */
  eventQueue: makeEventQueueStore,
  /** Every key holds a hash that names its workspace. */
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
  /** MCP servers of others, and people's connections to them. */
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

/**
 * A function that makes objects whose members are made when they are first used, each once per object, of the arguments
 * that the object is made of. The getters stand on a prototype: an object with 16 getters of its own takes 25 to 80 µs, one
 * with a prototype less than 1.
 */
function onFirstUse<Makers extends Record<string, (...args: never[]) => unknown>>(
  makers: Makers,
): (...args: Parameters<Makers[keyof Makers]>) => { readonly [Name in keyof Makers]: ReturnType<Makers[Name]> } {
  class Members {
    readonly #given: Parameters<Makers[keyof Makers]>;
    readonly #made = new Map<string, unknown>();

    constructor(args: Parameters<Makers[keyof Makers]>) {
      this.#given = args;
    }

    static get(members: Members, name: string): unknown {
      if (!members.#made.has(name)) {
        // Each of them takes what the object is made of: the parameters of the function that is given back.
        const make = makers[name] as (...args: Parameters<Makers[keyof Makers]>) => unknown;
        members.#made.set(name, make(...members.#given));
      }
      return members.#made.get(name);
    }
  }
  for (const name of Object.keys(makers)) {
    Object.defineProperty(Members.prototype, name, {
      enumerable: true,
      get(this: Members) {
        return Members.get(this, name);
      },
    });
  }
  // The loop has given the prototype a getter for each maker.
  return (...args) => new Members(args) as unknown as { readonly [Name in keyof Makers]: ReturnType<Makers[Name]> };
}
