import type { Store, WorkspaceStore } from "#server/ports/store.ts";
import type { SqlHandles } from "./handles.ts";
import { makeAccessStore } from "./store/access.ts";
import { makeAuditStore } from "./store/audit.ts";
import { makeConnectorStore } from "./store/connectors.ts";
import { makeEntityStore } from "./store/entities.ts";
import { makeGrantStore } from "./store/grants.ts";
import { makeIdempotencyStore } from "./store/idempotency.ts";
import { makeInstallationStore } from "./store/installation.ts";
import { makeItemWriteStore } from "./store/item-writes.ts";
import { makeItemStore } from "./store/items.ts";
import { makeLinkStore } from "./store/links.ts";
import { makeGroupStore } from "./store/groups.ts";
import { makeMemberStore } from "./store/members.ts";
import { makeNameStore } from "./store/names.ts";
import { makeOAuthStore } from "./store/oauth.ts";
import { makeInvitationStore, makeUserStore, makeWorkspaceRecordStore } from "./store/people.ts";
import { makePushUploadStore } from "./store/push-uploads.ts";
import { makeQueueStore } from "./store/queue.ts";
import { makeSessionStore } from "./store/sessions.ts";
import { makeSsoStore } from "./store/sso.ts";
import { makeSyncStore } from "./store/syncs.ts";
import { makeUsageStore } from "./store/usage.ts";
import { makeTokenLookup, makeTokenStore } from "./store/tokens.ts";

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
