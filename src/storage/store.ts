import type { Store, WorkspaceStore } from "./store-type.ts";
import type { SqlHandles } from "./handles.ts";
import { makeAccessStore } from "./records/access.ts";
import { makeAuditStore } from "./records/audit.ts";
import { makeConnectorStore } from "./records/connectors.ts";
import { makeEntityStore } from "./records/entities.ts";
import { makeGrantStore } from "./records/grants.ts";
import { makeIdempotencyStore } from "./records/idempotency.ts";
import { makeInstallationStore } from "./records/installation.ts";
import { makeItemWriteStore } from "./records/item-writes.ts";
import { makeItemStore } from "./records/items.ts";
import { makeLinkStore } from "./records/links.ts";
import { makeGroupStore } from "./records/groups.ts";
import { makeMemberStore } from "./records/members.ts";
import { makeNameStore } from "./records/names.ts";
import { makeOAuthStore } from "./records/oauth.ts";
import { makeInvitationStore, makeUserStore, makeWorkspaceRecordStore } from "./records/people.ts";
import { makePushUploadStore } from "./records/push-uploads.ts";
import { makeQueueStore } from "./records/queue.ts";
import { makeSessionStore } from "./records/sessions.ts";
import { makeSsoStore } from "./records/sso.ts";
import { makeSyncStore } from "./records/syncs.ts";
import { makeUsageStore } from "./records/usage.ts";
import { makeTokenLookup, makeTokenStore } from "./records/tokens.ts";

/** The store on SQL. The same code serves the whole database, a transaction and a snapshot. */
export function makeStore(sql: SqlHandles): Store {
  return {
    installation: makeInstallationStore(sql),
    users: makeUserStore(sql),
    workspaces: makeWorkspaceRecordStore(sql),
    sessions: makeSessionStore(sql),
    links: makeLinkStore(sql),
    sso: makeSsoStore(sql),
    tokenLookup: makeTokenLookup(sql),
    oauth: makeOAuthStore(sql),
    queue: makeQueueStore(sql),
    idempotency: makeIdempotencyStore(sql),
    in: (workspaceId) => makeWorkspaceStore(sql, workspaceId),
    transaction: (work) =>
      sql.write.transaction().execute((trx) => work(makeStore({ read: trx, write: trx, writer: undefined }))),
    snapshot: (work) =>
      sql.read.transaction().execute((trx) => work(makeStore({ read: trx, write: trx, writer: undefined }))),
  };
}

function makeWorkspaceStore(sql: SqlHandles, workspaceId: string): WorkspaceStore {
  return {
    workspaceId,
    members: makeMemberStore(sql, workspaceId),
    invitations: makeInvitationStore(sql, workspaceId),
    groups: makeGroupStore(sql, workspaceId),
    tokens: makeTokenStore(sql, workspaceId),
    grants: makeGrantStore(sql, workspaceId),
    audit: makeAuditStore(sql, workspaceId),
    access: makeAccessStore(sql, workspaceId),
    connectors: makeConnectorStore(sql, workspaceId),
    syncs: makeSyncStore(sql, workspaceId),
    items: makeItemStore(sql, workspaceId),
    itemWrites: makeItemWriteStore(sql, workspaceId),
    entities: makeEntityStore(sql, workspaceId),
    pushUploads: makePushUploadStore(sql, workspaceId),
    usage: makeUsageStore(sql, workspaceId),
    names: makeNameStore(sql, workspaceId),
  };
}
