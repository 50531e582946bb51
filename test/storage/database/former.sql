-- A dump of the database that kb of commit dc0a8ef0 left after it had indexed four files. Its keys and its password open nothing.
pragma foreign_keys = off;
begin;
CREATE TABLE "kysely_migration" ("name" varchar(255) not null primary key, "timestamp" varchar(255) not null);
CREATE TABLE "kysely_migration_lock" ("id" varchar(255) not null primary key, "is_locked" integer default 0 not null);
CREATE TABLE "installation" ("id" bigint not null, "completedAt" bigint, "setupCodeHash" text, "setupCodeExpiresAt" bigint, "setupCodeTries" bigint not null, "markStep" bigint, "markFile" text, "keyCheck" text, constraint "installation_key" primary key ("id"));
CREATE TABLE "local_roots" ("rootId" text not null, "path" text not null, "createdBy" text not null, "createdAt" bigint not null, constraint "local_roots_key" primary key ("rootId"), constraint "local_roots_path" unique ("path"));
CREATE TABLE "users" ("userId" text not null, "email" text not null, "emailKey" text not null, "name" text not null, "passwordHash" text, "emailVerifiedAt" bigint, "timeZone" text, "createdAt" bigint not null, "resetLinkAt" bigint, "resetLinkBy" text, "passwordSetAt" bigint, constraint "users_key" primary key ("userId"), constraint "users_email" unique ("emailKey"));
CREATE TABLE "workspaces" ("workspaceId" text not null, "name" text not null, "timeZone" text not null, "createdAt" bigint not null, "secrets" text default 'mask' not null, "maxAclAgeMs" bigint default 86400000 not null, "identityDomains" text default '[]' not null, constraint "workspaces_key" primary key ("workspaceId"));
CREATE TABLE "members" ("workspaceId" text not null, "userId" text not null, "role" text not null, "joinedAt" bigint not null, constraint "members_key" primary key ("workspaceId", "userId"), constraint "members_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade, constraint "members_user" foreign key ("userId") references "users" ("userId"));
CREATE INDEX "members_by_user" on "members" ("userId");
CREATE TABLE "invitations" ("workspaceId" text not null, "invitationId" text not null, "email" text not null, "role" text not null, "tokenHash" text not null, "invitedBy" text not null, "createdAt" bigint not null, "expiresAt" bigint not null, "acceptedAt" bigint, "revokedAt" bigint, "isMailed" bigint default 0 not null, constraint "invitations_key" primary key ("workspaceId", "invitationId"), constraint "invitations_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade, constraint "invitations_token" unique ("tokenHash"));
CREATE TABLE "groups" ("workspaceId" text not null, "groupId" text not null, "name" text not null, "createdAt" bigint not null, "ownerUserId" text, "isClosed" bigint default 0 not null, constraint "groups_key" primary key ("workspaceId", "groupId"), constraint "groups_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade);
CREATE TABLE "sessions" ("sessionId" text not null, "tokenHash" text not null, "userId" text not null, "workspaceId" text not null, "createdAt" bigint not null, "authenticatedAt" bigint not null, "lastSeenAt" bigint not null, "expiresAt" bigint not null, "revokedAt" bigint, "userAgent" text, "ip" text, constraint "sessions_key" primary key ("sessionId"), constraint "sessions_token" unique ("tokenHash"), constraint "sessions_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId"), constraint "sessions_user" foreign key ("userId") references "users" ("userId"));
CREATE INDEX "sessions_by_user" on "sessions" ("userId");
CREATE TABLE "api_tokens" ("workspaceId" text not null, "tokenId" text not null, "userId" text not null, "name" text not null, "prefix" text not null, "hash" text not null, "scopes" text not null, "createdAt" bigint not null, "lastUsedAt" bigint, "expiresAt" bigint, "revokedAt" bigint, "grantId" text, constraint "api_tokens_key" primary key ("workspaceId", "tokenId"), constraint "api_tokens_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade, constraint "api_tokens_hash" unique ("hash"), constraint "api_tokens_user" foreign key ("userId") references "users" ("userId"));
CREATE INDEX "api_tokens_by_user" on "api_tokens" ("workspaceId", "userId", "createdAt");
CREATE TABLE "audit" ("workspaceId" text not null, "seq" bigint not null, "at" bigint not null, "actorUserId" text, "credential" text not null, "action" text not null, "targetType" text not null, "targetId" text not null, "outcome" text not null, "ip" text, "requestId" text, "details" text not null, "previousHash" text, "hash" text, constraint "audit_key" primary key ("workspaceId", "seq"), constraint "audit_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade);
CREATE TABLE "access_state" ("workspaceId" text not null, "epoch" bigint not null, "nextListId" bigint not null, "nextAclId" bigint not null, constraint "access_state_key" primary key ("workspaceId"), constraint "access_state_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade);
CREATE TABLE "accesses" ("workspaceId" text not null, "aclId" bigint not null, "listIds" text not null, constraint "accesses_key" primary key ("workspaceId", "aclId"), constraint "accesses_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade, constraint "accesses_lists" unique ("workspaceId", "listIds"));
CREATE TABLE "connectors" ("workspaceId" text not null, "connectorId" text not null, "providerId" text not null, "name" text not null, "ownerUserId" text not null, "visibility" text not null, "memberIds" text not null, "groupIds" text not null, "config" text not null, "scope" text not null, "scopeVersion" bigint not null, "accountId" text, "connectionId" text, "everyMinutes" bigint, "state" text not null, "stateReason" text, "nextRunAt" bigint, "cursor" text, "consecutiveFailures" bigint not null, "aclCheckedAt" bigint, "lastFullAt" bigint, "createdAt" bigint not null, "createdBy" text not null, "refusedAt" bigint, "proofTriedAt" bigint, "pausedBy" text, "withheldAt" integer, "ownedSince" bigint, constraint "connectors_key" primary key ("workspaceId", "connectorId"), constraint "connectors_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade);
CREATE INDEX "connectors_due" on "connectors" ("state", "nextRunAt");
CREATE TABLE "connector_keys" ("workspaceId" text not null, "keyId" text not null, "connectorId" text not null, "hash" text not null, "prefix" text not null, "createdAt" bigint not null, "createdBy" text not null, "expiresAt" bigint, "revokedAt" bigint, constraint "connector_keys_key" primary key ("workspaceId", "keyId"), constraint "connector_keys_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade, constraint "connector_keys_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade, constraint "connector_keys_hash" unique ("hash"));
CREATE TABLE "syncs" ("workspaceId" text not null, "syncId" text not null, "connectorId" text not null, "mode" text not null, "trigger" text not null, "state" text not null, "attempt" bigint not null, "counts" text not null, "progress" text not null, "items" text, "resumeAt" bigint, "cancelRequestedAt" bigint, "problem" text, "scopeVersion" bigint not null, "createdAt" bigint not null, "startedAt" bigint, "finishedAt" bigint, "people" text, constraint "syncs_key" primary key ("workspaceId", "syncId"), constraint "syncs_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade, constraint "syncs_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade);
CREATE INDEX "syncs_by_connector" on "syncs" ("workspaceId", "connectorId", "createdAt");
CREATE TABLE "sync_skips" ("workspaceId" text not null, "syncId" text not null, "externalId" text not null, "reason" text not null, "message" text not null, "retryable" bigint not null, constraint "sync_skips_key" primary key ("workspaceId", "syncId", "externalId"), constraint "sync_skips_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade, constraint "sync_skips_sync" foreign key ("workspaceId", "syncId") references "syncs" ("workspaceId", "syncId") on delete cascade);
CREATE TABLE "jobs" ("jobId" text not null, "workspaceId" text not null, "type" text not null, "dedupeKey" text not null, "payload" text not null, "priority" bigint not null, "runAt" bigint not null, "attempt" bigint not null, "leaseOwner" text, "leaseUntil" bigint, "createdAt" bigint not null, constraint "jobs_key" primary key ("jobId"), constraint "jobs_dedupe" unique ("dedupeKey"));
CREATE INDEX "jobs_due" on "jobs" ("runAt", "priority");
CREATE TABLE "items" ("workspaceId" text not null, "kbId" text not null, "connectorId" text not null, "externalId" text not null, "parentExternalId" text, "providerId" text not null, "source" text not null, "kind" text not null, "subkind" text, "key" text, "title" text not null, "url" text, "path" text not null, "mimeType" text, "size" bigint, "version" text, "textHash" text, "textChars" bigint not null, "sections" text not null, "status" text, "priority" text, "labels" text not null, "fields" text not null, "author" text, "assignees" text not null, "createdAt" bigint, "updatedAt" bigint, "dueAt" bigint, "indexedAt" bigint not null, "indexState" text not null, "textReason" text, "textMessage" text, "retryAt" bigint, "aclId" bigint not null, "seenBy" text, "removedAt" bigint, "identityHint" text, "indexHash" text, "maskedSecrets" bigint default 0 not null, "lineAnchor" text, "ownAclId" bigint, "ownClockAt" bigint, "ownClockCause" text, "ownClockBy" text, "replyTo" text, "contentRef" text, "reader" text, "readerVersion" integer, "readAgainAt" bigint, "readElsewhere" integer default 0 not null, "formerSince" bigint, "cutRetries" integer, constraint "items_key" primary key ("workspaceId", "kbId"), constraint "items_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade, constraint "items_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade, constraint "items_external" unique ("workspaceId", "connectorId", "externalId"));
CREATE INDEX "items_by_url" on "items" ("workspaceId", "url");
CREATE INDEX "items_by_key" on "items" ("workspaceId", "key");
CREATE INDEX "items_by_updated" on "items" ("workspaceId", "updatedAt", "kbId", "aclId", "removedAt");
CREATE INDEX "items_by_title" on "items" ("workspaceId", lower("title"), "kbId", "aclId", "removedAt");
CREATE INDEX "items_by_place" on "items" ("workspaceId", "connectorId", "source", "kind", "indexState", "aclId", "removedAt");
CREATE TABLE "item_texts" ("workspaceId" text not null, "kbId" text not null, "chunk" bigint not null, "start" bigint not null, "text" text not null, "line" bigint, constraint "item_texts_key" primary key ("workspaceId", "kbId", "chunk"), constraint "item_texts_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade, constraint "item_texts_item" foreign key ("workspaceId", "kbId") references "items" ("workspaceId", "kbId") on delete cascade);
CREATE TABLE "entities" ("workspaceId" text not null, "entityId" text not null, "type" text not null, "identity" text not null, constraint "entities_key" primary key ("workspaceId", "entityId"), constraint "entities_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade, constraint "entities_identity" unique ("workspaceId", "type", "identity"));
CREATE TABLE "item_entities" ("workspaceId" text not null, "kbId" text not null, "entityId" text not null, "role" text not null, "name" text not null, "nameKey" text not null, "email" text, "login" text, "claimed" bigint not null, "isHome" integer default 0 not null, constraint "item_entities_key" primary key ("workspaceId", "kbId", "entityId", "role"), constraint "item_entities_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade, constraint "item_entities_item" foreign key ("workspaceId", "kbId") references "items" ("workspaceId", "kbId") on delete cascade);
CREATE INDEX "item_entities_by_entity" on "item_entities" ("workspaceId", "entityId");
CREATE INDEX "item_entities_by_name" on "item_entities" ("workspaceId", "nameKey", "entityId", "kbId");
CREATE TABLE "removals" ("workspaceId" text not null, "connectorId" text not null, "kbId" text not null, "syncId" text, "heldAt" bigint not null, constraint "removals_key" primary key ("workspaceId", "kbId"), constraint "removals_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade, constraint "removals_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade);
CREATE TABLE "removal_windows" ("workspaceId" text not null, "connectorId" text not null, "startsAt" bigint not null, "highest" bigint not null, "removed" bigint not null, constraint "removal_windows_key" primary key ("workspaceId", "connectorId", "startsAt"), constraint "removal_windows_workspace" foreign key ("workspaceId") references "workspaces" ("workspaceId") on delete cascade, constraint "removal_windows_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade);
CREATE INDEX "items_by_parent" on "items" ("workspaceId", "connectorId", "parentExternalId") where "parentExternalId" is not null;
CREATE INDEX "items_by_hint" on "items" ("workspaceId", "connectorId", "identityHint") where "identityHint" is not null;
CREATE INDEX "items_removed" on "items" ("removedAt") where "removedAt" is not null;
CREATE TABLE index_state ( no INTEGER PRIMARY KEY AUTOINCREMENT, workspaceId TEXT UNIQUE, generation INTEGER NOT NULL DEFAULT 0, deltaSeq INTEGER NOT NULL DEFAULT 0, foldedSeq INTEGER NOT NULL DEFAULT 0, deltaEpoch INTEGER NOT NULL DEFAULT 0, aclSeq INTEGER NOT NULL DEFAULT 0, foldStep INTEGER NOT NULL DEFAULT 0, analyzerVersion INTEGER NOT NULL );
CREATE TABLE index_counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE index_terms ( no INTEGER NOT NULL, term TEXT NOT NULL, termId INTEGER NOT NULL, PRIMARY KEY (no, term) ) WITHOUT ROWID;
CREATE TABLE index_postings (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE index_segments ( segment INTEGER PRIMARY KEY, no INTEGER NOT NULL, state INTEGER NOT NULL, docs INTEGER NOT NULL, deadCount INTEGER NOT NULL DEFAULT 0, dead BLOB, bytes INTEGER NOT NULL DEFAULT 0 );
CREATE INDEX index_segments_of ON index_segments (no, state);
CREATE TABLE index_columns (segment INTEGER NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL);
CREATE UNIQUE INDEX index_columns_of ON index_columns (segment, name);
CREATE TABLE index_delta ( id INTEGER PRIMARY KEY, no INTEGER NOT NULL, kbId TEXT NOT NULL, document TEXT, terms TEXT, weights BLOB );
CREATE UNIQUE INDEX index_delta_item ON index_delta (no, kbId);
CREATE TABLE index_access (id INTEGER PRIMARY KEY, no INTEGER NOT NULL, kbId TEXT NOT NULL, aclId INTEGER NOT NULL);
CREATE TABLE index_acl_chunks (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE UNIQUE INDEX index_access_item ON index_access (no, kbId);
CREATE TABLE "connector_credentials" ("workspaceId" text not null, "connectorId" text not null, "sealed" text not null, "givenBy" text not null, "givenAt" bigint not null, constraint "connector_credentials_key" primary key ("workspaceId", "connectorId"), constraint "connector_credentials_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade);
CREATE TABLE "push_uploads" ("workspaceId" text not null, "uploadId" text not null, "connectorId" text not null, "mode" text not null, "name" text, "state" text not null, "lines" bigint not null, "counts" text not null, "troubles" text not null, "unnamed" bigint not null, "isHeld" bigint not null, "sweptItems" bigint not null, "createdAt" bigint not null, "touchedAt" bigint not null, "finishedAt" bigint, constraint "push_uploads_key" primary key ("workspaceId", "uploadId"), constraint "push_uploads_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade);
CREATE INDEX "push_uploads_by_connector" on "push_uploads" ("workspaceId", "connectorId", "touchedAt");
CREATE INDEX "push_uploads_open_sets" on "push_uploads" ("workspaceId", "connectorId") where "mode" = 'set' and "state" in ('open', 'ending');
CREATE INDEX "items_masked" on "items" ("workspaceId", "connectorId", "maskedSecrets") where "maskedSecrets" > 0 and "removedAt" is null;
CREATE TABLE "email_links" ("tokenHash" text primary key, "purpose" text not null, "userId" text references "users" ("userId"), "email" text not null, "isMailed" bigint not null, "details" text not null, "createdAt" bigint not null, "expiresAt" bigint not null, "usedAt" bigint);
CREATE INDEX "email_links_by_user" on "email_links" ("userId", "purpose");
CREATE INDEX "email_links_due" on "email_links" ("expiresAt");
CREATE TABLE "sso_identities" ("issuer" text not null, "subject" text not null, "userId" text not null references "users" ("userId"), "label" text not null, "createdAt" bigint not null, constraint "sso_identities_key" primary key ("issuer", "subject"));
CREATE INDEX "sso_identities_by_user" on "sso_identities" ("userId");
CREATE TABLE "sso_flows" ("stateHash" text primary key, "browserHash" text not null, "sessionId" text, "sealed" text not null, "returnTo" text not null, "createdAt" bigint not null, "expiresAt" bigint not null);
CREATE TABLE "oauth_clients" ("clientId" text primary key, "metadata" text not null, "ip" text, "createdAt" bigint not null, "lastUsedAt" bigint);
CREATE TABLE "oauth_records" ("model" text not null, "idHash" text not null, "sealed" text not null, "grantId" text, "userCodeHash" text, "consumedAt" bigint, "expiresAt" bigint, constraint "oauth_records_key" primary key ("model", "idHash"));
CREATE INDEX "oauth_records_by_grantId" on "oauth_records" ("grantId") where "grantId" is not null;
CREATE INDEX "oauth_records_by_userCodeHash" on "oauth_records" ("userCodeHash") where "userCodeHash" is not null;
CREATE INDEX "oauth_records_by_expiresAt" on "oauth_records" ("expiresAt") where "expiresAt" is not null;
CREATE TABLE "grants" ("workspaceId" text not null references "workspaces" ("workspaceId") on delete cascade, "grantId" text not null, "userId" text not null references "users" ("userId"), "clientId" text not null, "clientName" text not null, "place" text not null, "scopes" text not null, "isDevice" bigint not null, "authenticatedAt" bigint not null, "createdAt" bigint not null, "lastUsedAt" bigint, "expiresAt" bigint not null, "revokedAt" bigint, constraint "grants_key" primary key ("workspaceId", "grantId"), constraint "grants_id" unique ("grantId"));
CREATE INDEX "grants_by_user" on "grants" ("workspaceId", "userId", "createdAt");
CREATE INDEX "api_tokens_by_grant" on "api_tokens" ("workspaceId", "grantId");
CREATE TABLE "idempotency_records" ("keyHash" text primary key, "bodyHash" text not null, "status" bigint, "answer" text, "targetId" text, "createdAt" bigint not null, "expiresAt" bigint not null);
CREATE INDEX "idempotency_records_due" on "idempotency_records" ("expiresAt");
CREATE INDEX "audit_by_actor" on "audit" ("workspaceId", "actorUserId", "action", "seq");
CREATE INDEX "audit_acts" on "audit" ("workspaceId", "seq") where "action" <> 'items.read';
CREATE INDEX "audit_by_time" on "audit" ("workspaceId", "at");
CREATE INDEX "items_by_own_access" on "items" ("workspaceId", "kbId", "ownAclId") where "parentExternalId" is not null and "ownAclId" is not null;
CREATE INDEX "audit_by_target" on "audit" ("workspaceId", "targetId", "seq") where "action" <> 'items.read';
CREATE TABLE "withheld_items" ("workspaceId" text not null, "connectorId" text not null, "kbId" text not null, constraint "withheld_items_key" primary key ("workspaceId", "connectorId", "kbId")) without rowid;
CREATE TABLE "source_groups" ("workspaceId" text not null, "groupPrincipal" text not null, "connectorId" text not null, "toldIn" text not null, "checkedAt" bigint not null, "followsFeed" bigint not null, "members" bigint not null, "digest" text, "etag" text, "toldPosition" bigint not null, "toldBy" text not null, "seenBy" text, "neverAges" bigint default 0 not null, constraint "source_groups_key" primary key ("workspaceId", "groupPrincipal")) without rowid;
CREATE INDEX "source_groups_by_age" on "source_groups" ("workspaceId", "connectorId", "toldIn", "checkedAt");
CREATE TABLE "identities" ("workspaceId" text not null, "principal" text not null, "connectorId" text not null, "toldIn" text not null, "instance" text not null, "state" text not null, "name" text, "login" text, "email" text, "emailKey" text, "isEmailVerified" bigint not null, "isTrusted" bigint not null, "aliasOf" text, "toldAt" bigint not null, "followsFeed" bigint not null, "seenBy" text, constraint "identities_key" primary key ("workspaceId", "principal", "connectorId")) without rowid;
CREATE INDEX "identities_by_age" on "identities" ("workspaceId", "connectorId", "toldIn", "toldAt");
CREATE INDEX "identities_by_email" on "identities" ("workspaceId", "emailKey");
CREATE TABLE "identity_aliases" ("workspaceId" text not null, "principal" text not null, "alias" text not null, "connectorId" text not null, constraint "identity_aliases_key" primary key ("workspaceId", "principal", "alias", "connectorId")) without rowid;
CREATE INDEX "identity_aliases_by_alias" on "identity_aliases" ("workspaceId", "alias");
CREATE TABLE "identity_joins" ("workspaceId" text not null, "principal" text not null, "userId" text not null, "connectorId" text not null, "basis" text not null, "joinedBy" text, "joinedAt" bigint not null, "endedAt" bigint, "endedBy" text, "endReason" text, "hasLeft" bigint not null, constraint "identity_joins_key" primary key ("workspaceId", "principal", "userId")) without rowid;
CREATE TABLE "former_addresses" ("workspaceId" text not null, "emailKey" text not null, "userId" text not null, "hasLeft" bigint not null, constraint "former_addresses_key" primary key ("workspaceId", "emailKey", "userId")) without rowid;
CREATE TABLE "people_feeds" ("workspaceId" text not null, "connectorId" text not null, "toldIn" text not null, "position" bigint not null, "cursor" text, "currentAt" bigint, "runId" text, "runCursor" text, "wholeAt" bigint, constraint "people_feeds_key" primary key ("workspaceId", "connectorId", "toldIn")) without rowid;
CREATE TABLE "memberships" ("workspaceId" text not null, "groupPrincipal" text not null, "memberPrincipal" text not null, "reportedBy" text not null, constraint "memberships_key" primary key ("workspaceId", "groupPrincipal", "memberPrincipal", "reportedBy")) without rowid;
CREATE INDEX "memberships_by_member" on "memberships" ("workspaceId", "memberPrincipal", "groupPrincipal", "reportedBy");
CREATE INDEX items_by_own_clock on items ("workspaceId", "connectorId", "ownClockAt", "kbId") where "ownClockAt" is not null;
CREATE TABLE "item_clocks" ("workspaceId" text not null, "connectorId" text not null, "checkedAt" bigint not null, constraint "item_clocks_key" primary key ("workspaceId", "connectorId", "checkedAt"), constraint "item_clocks_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade) without rowid;
CREATE TABLE "instances" ("workspaceId" text not null, "providerId" text not null, "baseUrl" text not null, "registeredBy" text not null, "registeredAt" bigint not null, constraint "instances_key" primary key ("workspaceId", "providerId", "baseUrl")) without rowid;
CREATE TABLE "connector_tenants" ("workspaceId" text not null, "connectorId" text not null, "tenantId" text not null, constraint "connector_tenants_key" primary key ("workspaceId", "connectorId")) without rowid;
CREATE INDEX item_entities_homes on item_entities ("workspaceId", "entityId", "kbId") where "isHome" = 1;
CREATE TABLE "source_state" ("workspaceId" text not null, "connectorId" text not null, "key" text not null, "value" text not null, constraint "source_state_key" primary key ("workspaceId", "connectorId", "key"), constraint "source_state_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade);
CREATE TABLE "relist_items" ("workspaceId" text not null, "connectorId" text not null, "externalId" text not null, "tries" integer not null, constraint "relist_items_key" primary key ("workspaceId", "connectorId", "externalId"), constraint "relist_items_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade);
CREATE TABLE "workspace_turns" ("workspaceId" text not null primary key, "servedAt" integer not null);
CREATE TABLE "identity_schedules" ("workspaceId" text not null, "connectorId" text not null, "nextRunAt" bigint not null, "askedAt" bigint, "paidUntil" bigint, constraint "identity_schedules_key" primary key ("workspaceId", "connectorId")) without rowid;
CREATE INDEX "identity_schedules_due" on "identity_schedules" ("nextRunAt");
CREATE TABLE "connector_bindings" ("workspaceId" text not null, "connectorId" text not null, "place" text not null, "version" integer not null, "account" text, "scopes" text, "credentials" text, "clocksFrom" bigint default 0 not null, constraint "connector_bindings_key" primary key ("workspaceId", "connectorId"), constraint "connector_bindings_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade) without rowid;
CREATE TABLE "connector_webhooks" ("workspaceId" text not null, "connectorId" text not null, "sealed" text not null, "madeAt" bigint not null, constraint "connector_webhooks_key" primary key ("workspaceId", "connectorId"), constraint "connector_webhooks_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade);
CREATE INDEX "connector_webhooks_connector" on "connector_webhooks" ("connectorId");
CREATE TABLE "group_homes" ("workspaceId" text not null, "entityId" text not null, "groupPrincipal" text not null, constraint "group_homes_key" primary key ("workspaceId", "entityId", "groupPrincipal"), constraint "group_homes_group" foreign key ("workspaceId", "groupPrincipal") references "source_groups" ("workspaceId", "groupPrincipal") on delete cascade) without rowid;
CREATE INDEX "group_homes_by_group" on "group_homes" ("workspaceId", "groupPrincipal");
CREATE TABLE "connector_accounts" ("workspaceId" text not null, "connectorId" text not null, "accountId" text, "scopes" text, constraint "connector_accounts_key" primary key ("workspaceId", "connectorId"), constraint "connector_accounts_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade);
CREATE TABLE "provider_accounts" ("workspaceId" text not null, "accountId" text not null, "userId" text not null, "providerId" text not null, "baseUrl" text not null, "principal" text not null, "label" text not null, "login" text, "scopes" text not null, "way" text not null, "sealed" text not null, "version" bigint not null, "expiresAt" bigint, "lockedBy" text, "lockedUntil" bigint, "state" text not null, "stateReason" text, "confirmedAt" bigint not null, "dueAt" bigint, "tries" bigint not null, "createdAt" bigint not null, constraint "provider_accounts_key" primary key ("workspaceId", "accountId"));
CREATE UNIQUE INDEX "provider_accounts_by_principal" on "provider_accounts" ("workspaceId", "principal") where "state" != 'ended';
CREATE INDEX "provider_accounts_by_user" on "provider_accounts" ("workspaceId", "userId");
CREATE INDEX "provider_accounts_due" on "provider_accounts" ("dueAt");
CREATE TABLE "account_flows" ("flowHash" text primary key, "workspaceId" text not null, "userId" text not null, "sessionId" text not null, "providerId" text not null, "stage" text not null, "sealed" text not null, "returnTo" text not null, "createdAt" bigint not null, "expiresAt" bigint not null);
CREATE INDEX "account_flows_due" on "account_flows" ("expiresAt");
CREATE TABLE "webhook_subscriptions" ("workspaceId" text not null, "connectorId" text not null, "data" text, "expiresAt" bigint, "dueAt" bigint, "scopeVersion" integer not null, "secretMadeAt" bigint not null, "tries" integer not null, "problem" text, constraint "webhook_subscriptions_key" primary key ("workspaceId", "connectorId"), constraint "webhook_subscriptions_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade);
CREATE INDEX "identity_joins_by_hand" on "identity_joins" ("workspaceId", "joinedAt", "connectorId", "joinedBy", "endedAt") where "basis" = 'admin';
CREATE INDEX "identity_joins_by_user" on "identity_joins" ("workspaceId", "userId", "basis", "joinedAt", "endedAt", "connectorId", "joinedBy", "endedBy", "endReason");
CREATE TABLE "access_lists" ("workspaceId" text not null references "workspaces" ("workspaceId") on delete cascade, "listId" bigint not null, "principals" text not null, "digest" bigint not null, constraint "access_lists_key" primary key ("workspaceId", "listId"));
CREATE INDEX "access_lists_by_digest" on "access_lists" ("digest");
CREATE TABLE "provider_servers" ("workspaceId" text not null references "workspaces" ("workspaceId") on delete cascade, "serverId" text not null, "name" text not null, "url" text not null, "slug" text not null, "authKind" text not null, "headerName" text, "clientId" text, "isEnabled" integer not null, "connectPolicy" text not null, "apps" text, "mapping" text, "health" text not null, "checkedAt" bigint, "latencyMs" integer, "failures" integer not null, "lastProblem" text, "dueAt" bigint, "serverInfo" text, "protocolVersion" text, "capabilities" text, "createdAt" bigint not null, "createdBy" text not null, "issuer" text, "mappedAt" bigint, "mappedBy" text, "callback" text, constraint "provider_servers_key" primary key ("workspaceId", "serverId"), constraint "provider_servers_url" unique ("workspaceId", "url"));
CREATE INDEX "provider_servers_due" on "provider_servers" ("dueAt");
CREATE TABLE "provider_server_secrets" ("workspaceId" text not null, "serverId" text not null, "sealed" text not null, constraint "provider_server_secrets_key" primary key ("workspaceId", "serverId"), constraint "provider_server_secrets_server" foreign key ("workspaceId", "serverId") references "provider_servers" ("workspaceId", "serverId") on delete cascade);
CREATE TABLE "connections" ("workspaceId" text not null, "connectionId" text not null, "serverId" text not null, "ownerUserId" text not null, "app" text not null, "name" text not null, "way" text not null, "status" text not null, "statusReason" text, "visibility" text not null, "memberIds" text not null, "groupIds" text not null, "accountId" text, "accountLabel" text, "scopes" text not null, "authorization" text, "pendingUntil" bigint, "lastUsedAt" bigint, "lastCheckedAt" bigint, "createdAt" bigint not null, "agreed" text, "waitingSince" bigint, constraint "connections_key" primary key ("workspaceId", "connectionId"), constraint "connections_server" foreign key ("workspaceId", "serverId") references "provider_servers" ("workspaceId", "serverId") on delete cascade);
CREATE INDEX "connections_of_server" on "connections" ("workspaceId", "serverId", "createdAt", "connectionId");
CREATE INDEX "connections_pending" on "connections" ("pendingUntil");
CREATE TABLE "connection_secrets" ("workspaceId" text not null, "connectionId" text not null, "sealed" text not null, "version" integer not null, "expiresAt" bigint, "lockedBy" text, "lockedUntil" bigint, constraint "connection_secrets_key" primary key ("workspaceId", "connectionId"), constraint "connection_secrets_connection" foreign key ("workspaceId", "connectionId") references "connections" ("workspaceId", "connectionId") on delete cascade);
CREATE TABLE "event_targets" ("workspaceId" text not null references "workspaces" ("workspaceId") on delete cascade, "targetId" text not null, "url" text not null, "types" text not null, "state" text not null, "pausedFor" text, "pausedAt" bigint, "sealed" text not null, "previousUntil" bigint, "createdBy" text, "createdAt" bigint not null, "failingSince" bigint, "dueAt" bigint, "leaseOwner" text, "leaseUntil" bigint, constraint "event_targets_key" primary key ("workspaceId", "targetId"));
CREATE INDEX event_targets_due on event_targets ("dueAt") where "dueAt" is not null;
CREATE TABLE "events" ("workspaceId" text not null references "workspaces" ("workspaceId") on delete cascade, "eventId" text not null, "type" text not null, "at" bigint not null, "data" text not null, constraint "events_key" primary key ("workspaceId", "eventId"));
CREATE TABLE "event_deliveries" ("seq" integer primary key autoincrement, "workspaceId" text not null, "deliveryId" text not null, "targetId" text not null, "eventId" text not null, "state" text not null, "isReplay" integer not null, "createdAt" bigint not null, "tries" integer not null, "triedAt" bigint, "endedAt" bigint, "status" integer, "code" text, constraint "event_deliveries_id" unique ("workspaceId", "deliveryId"), constraint "event_deliveries_target" foreign key ("workspaceId", "targetId") references "event_targets" ("workspaceId", "targetId") on delete cascade, constraint "event_deliveries_event" foreign key ("workspaceId", "eventId") references "events" ("workspaceId", "eventId") on delete cascade);
CREATE INDEX "event_deliveries_by_target" on "event_deliveries" ("workspaceId", "targetId", "state", "seq");
CREATE INDEX "event_deliveries_by_event" on "event_deliveries" ("workspaceId", "eventId");
CREATE TABLE "event_marks" ("workspaceId" text not null, "connectorId" text not null, "type" text not null, "value" bigint not null, constraint "event_marks_key" primary key ("workspaceId", "connectorId", "type"), constraint "event_marks_connector" foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade);
CREATE TABLE "access_principals" ("workspaceId" text not null references "workspaces" ("workspaceId") on delete cascade, "principal" text not null, "principalNo" bigint not null, constraint "access_principals_key" primary key ("workspaceId", "principal")) without rowid;
CREATE TABLE "access_numbers" ("nextPrincipalNo" bigint not null);
CREATE TABLE "access_list_principals" ("principalNo" bigint not null, "listId" bigint not null, constraint "access_list_principals_key" primary key ("principalNo", "listId")) without rowid;
CREATE INDEX items_by_reader on items ("workspaceId", "connectorId", "reader", "readerVersion", "removedAt") where "reader" is not null;
CREATE INDEX "items_read_elsewhere" on "items" ("workspaceId", "connectorId", "externalId") where "readElsewhere" = 1 and "removedAt" is null;
CREATE INDEX items_by_former on items ("formerSince") where "formerSince" is not null;
CREATE INDEX items_by_cut on items ("workspaceId", "connectorId") where "cutRetries" > 0;
CREATE TABLE "client_documents" ("clientId" text primary key, "metadata" text not null, "readAt" bigint not null, "deniedSince" bigint, "endedAt" bigint);
CREATE INDEX grants_by_client on grants ("clientId") where "revokedAt" is null;
CREATE INDEX item_entities_by_email on item_entities ("workspaceId", lower("email"), "nameKey", "entityId") where "email" is not null;
CREATE TABLE "waiting_reads" ( "workspaceId" text not null references "workspaces" ("workspaceId") on delete cascade, "number" integer not null, "record" text not null, primary key ("workspaceId", "number") ) without rowid;
CREATE TABLE "former_owners" ( "workspaceId" text not null, "connectorId" text not null, "userId" text not null, primary key ("workspaceId", "userId", "connectorId"), foreign key ("workspaceId", "connectorId") references "connectors" ("workspaceId", "connectorId") on delete cascade ) without rowid;
insert into "kysely_migration" values ('0001-initial', '2026-11-28T19:33:19.416Z');
insert into "kysely_migration" values ('0002-index-embedded', '2026-11-28T19:33:19.417Z');
insert into "kysely_migration" values ('0003-credentials', '2026-11-28T19:33:19.418Z');
insert into "kysely_migration" values ('0004-push-sets', '2026-11-28T19:33:19.418Z');
insert into "kysely_migration" values ('0005-secrets', '2026-11-28T19:33:19.419Z');
insert into "kysely_migration" values ('0006-index-acl-chunks', '2026-11-28T19:33:19.420Z');
insert into "kysely_migration" values ('0006-places', '2026-11-28T19:33:19.420Z');
insert into "kysely_migration" values ('0007-doors', '2026-11-28T19:33:19.424Z');
insert into "kysely_migration" values ('0008-own-access', '2026-11-28T19:33:19.425Z');
insert into "kysely_migration" values ('0009-memberships-by-member', '2026-11-28T19:33:19.440Z');
insert into "kysely_migration" values ('0010-left-connectors', '2026-11-28T19:33:19.441Z');
insert into "kysely_migration" values ('0011-closed-groups', '2026-11-28T19:33:19.454Z');
insert into "kysely_migration" values ('0012-titles', '2026-11-28T19:33:19.455Z');
insert into "kysely_migration" values ('0016-owners-keys', '2026-11-28T19:33:19.455Z');
insert into "kysely_migration" values ('0017-withheld-items', '2026-11-28T19:33:19.455Z');
insert into "kysely_migration" values ('0018-source-people', '2026-11-28T19:33:19.471Z');
insert into "kysely_migration" values ('0019-item-clocks', '2026-11-28T19:33:19.480Z');
insert into "kysely_migration" values ('0020-instances', '2026-11-28T19:33:19.487Z');
insert into "kysely_migration" values ('0021-homes', '2026-11-28T19:33:19.489Z');
insert into "kysely_migration" values ('0022-turns', '2026-11-28T19:33:19.489Z');
insert into "kysely_migration" values ('0023-identity-runs', '2026-11-28T19:33:19.489Z');
insert into "kysely_migration" values ('0024-bindings', '2026-11-28T19:33:19.489Z');
insert into "kysely_migration" values ('0025-lasting-groups', '2026-11-28T19:33:19.500Z');
insert into "kysely_migration" values ('0026-webhooks', '2026-11-28T19:33:19.500Z');
insert into "kysely_migration" values ('0027-group-homes', '2026-11-28T19:33:19.511Z');
insert into "kysely_migration" values ('0028-accounts', '2026-11-28T19:33:19.513Z');
insert into "kysely_migration" values ('0029-provider-accounts', '2026-11-28T19:33:19.514Z');
insert into "kysely_migration" values ('0030-webhook-subscriptions', '2026-11-28T19:33:19.528Z');
insert into "kysely_migration" values ('0031-hand-links', '2026-11-28T19:33:19.529Z');
insert into "kysely_migration" values ('0032-folder-mark', '2026-11-28T19:33:19.534Z');
insert into "kysely_migration" values ('0033-list-digests', '2026-11-28T19:33:19.546Z');
insert into "kysely_migration" values ('0034-provider-servers', '2026-11-28T19:33:19.548Z');
insert into "kysely_migration" values ('0035-outgoing-events', '2026-11-28T19:33:19.549Z');
insert into "kysely_migration" values ('0036-client-issuers', '2026-11-28T19:33:19.552Z');
insert into "kysely_migration" values ('0037-principal-numbers', '2026-11-28T19:33:19.559Z');
insert into "kysely_migration" values ('0038-index-delta-bytes', '2026-11-28T19:33:19.559Z');
insert into "kysely_migration" values ('0039-index-delta-hashes', '2026-11-28T19:33:19.559Z');
insert into "kysely_migration" values ('0040-readers', '2026-11-28T19:33:19.561Z');
insert into "kysely_migration" values ('0041-owners-acts', '2026-11-28T19:33:19.571Z');
insert into "kysely_migration" values ('0042-people-first', '2026-11-28T19:33:19.580Z');
insert into "kysely_migration" values ('0043-fallen-roles', '2026-11-28T19:33:19.580Z');
insert into "kysely_migration" values ('0044-tool-agreements', '2026-11-28T19:33:19.583Z');
insert into "kysely_migration" values ('0046-key-check', '2026-11-28T19:33:19.584Z');
insert into "kysely_migration" values ('0047-former-texts', '2026-11-28T19:33:19.584Z');
insert into "kysely_migration" values ('0049-what-is-missing', '2026-11-28T19:33:19.586Z');
insert into "kysely_migration" values ('0050-masked-names', '2026-11-28T19:33:19.594Z');
insert into "kysely_migration" values ('0052-client-documents', '2026-11-28T19:33:19.594Z');
insert into "kysely_migration" values ('0053-entities-by-email', '2026-11-28T19:33:19.594Z');
insert into "kysely_migration" values ('0054-waiting-reads', '2026-11-28T19:33:19.594Z');
insert into "kysely_migration" values ('0056-former-owners', '2026-11-28T19:33:19.595Z');
insert into "kysely_migration" values ('0057-own-callbacks', '2026-11-28T19:33:19.595Z');
insert into "kysely_migration_lock" values ('migration_lock', 0);
insert into "installation" values (1, 1795894400049, null, null, 0, null, null, 'psfXhW0xc19bcHUbooaHwywICODgaDSrfBuEGlM6vNU');
insert into "users" values ('usr_2t6ww9sjjdhsh2pw', 'admin@acme.test', 'admin@acme.test', 'admin', '$argon2id$v=19$m=19456,t=2,p=1$TAch4FMSgtZlc9wnzBXf0g$yKOqPlALlDsDsU7/2fNKXvl0bY6K0H7twAHVmiZyb5w', null, null, 1795894400050, null, null, null);
insert into "workspaces" values ('wsp_dddenpf456ywihra', 'Workspace', 'UTC', 1795894400051, 'mask', 86400000, '[]');
insert into "members" values ('wsp_dddenpf456ywihra', 'usr_2t6ww9sjjdhsh2pw', 'owner', 1795894400051);
insert into "invitations" values ('wsp_dddenpf456ywihra', 'inv_chaqzkxsejf8fgs5', 'bo@acme.test', 'member', '34909d8a3fcb054acb79a3a2dd0d0425de0d7f27ebc0b5c035b43444a3ce2db3', 'usr_2t6ww9sjjdhsh2pw', 1795894402399, 1796499202399, null, null, 0);
insert into "groups" values ('wsp_dddenpf456ywihra', 'grp_wr8mybsz9k8987py', 'Pilots', 1795894402346, 'usr_2t6ww9sjjdhsh2pw', 0);
insert into "api_tokens" values ('wsp_dddenpf456ywihra', 'tok_fh2mrct3rvsgbq2u', 'usr_2t6ww9sjjdhsh2pw', 'laptop', 'kb_pat_kFIx', '001bd3b3dca8bf993d7ae8f6ea70029944293f3f94430267562c23ea1f32d054', 'kb:api', 1795894402404, 1795894402644, 1798486402404, null, null);
insert into "audit" values ('wsp_dddenpf456ywihra', 1, 1795894400052, 'usr_2t6ww9sjjdhsh2pw', 'system', 'workspace.created', 'workspace', 'wsp_dddenpf456ywihra', 'done', null, null, '{}', null, 'ca135ae181ba1125cfcae7a9f2cc6ee0b6b2382c07526f7d0f2e98caa4d06f5f');
insert into "audit" values ('wsp_dddenpf456ywihra', 2, 1795894400053, 'usr_2t6ww9sjjdhsh2pw', 'system', 'installation.completed', 'user', 'usr_2t6ww9sjjdhsh2pw', 'done', null, null, '{}', 'ca135ae181ba1125cfcae7a9f2cc6ee0b6b2382c07526f7d0f2e98caa4d06f5f', '9b2b9c13dfa393d8b3a230f70a46d92a6544fee52c1c6a12e306af0fad49e0ff');
insert into "audit" values ('wsp_dddenpf456ywihra', 3, 1795894400464, 'usr_2t6ww9sjjdhsh2pw', 'system', 'session.opened', 'session', 'ses_b5u92a3ejice79h7', 'done', '127.0.0.1', 'req_jd38zpa29mmaqwp9', '{}', '9b2b9c13dfa393d8b3a230f70a46d92a6544fee52c1c6a12e306af0fad49e0ff', 'a3f385486e2a989c4f612f5b1ee3745ce1872f6a11329beeab9ba5f3d36af2a3');
insert into "audit" values ('wsp_dddenpf456ywihra', 4, 1795894400821, 'usr_2t6ww9sjjdhsh2pw', 'session:ses_b5u92a3ejice79h7', 'connector.created', 'connector', 'con_fjzevcq4kg9tpyst', 'done', '127.0.0.1', 'req_rwd6r2x5apwjaeij', '{"providerId":"filesystem","visibility":"workspace"}', 'a3f385486e2a989c4f612f5b1ee3745ce1872f6a11329beeab9ba5f3d36af2a3', '0555a5391c3e58b474a0cd7622ae2cc2fcd3615c5bea825487a0b35c0eb9106c');
insert into "audit" values ('wsp_dddenpf456ywihra', 5, 1795894402360, 'usr_2t6ww9sjjdhsh2pw', 'session:ses_b5u92a3ejice79h7', 'group.created', 'group', 'grp_wr8mybsz9k8987py', 'done', '127.0.0.1', 'req_a5ss6jnfzvjkizvw', '{"groups":0,"isClosed":false,"members":0}', '0555a5391c3e58b474a0cd7622ae2cc2fcd3615c5bea825487a0b35c0eb9106c', '865bf4ab27a64eebee13e497624c1ded7ad7358e07f6007ec298bbaac0db3360');
insert into "audit" values ('wsp_dddenpf456ywihra', 6, 1795894402387, 'usr_2t6ww9sjjdhsh2pw', 'session:ses_b5u92a3ejice79h7', 'connector.created', 'connector', 'con_d42r8hndnqvgc4uw', 'done', '127.0.0.1', 'req_sesghr9wivpmz8ei', '{"providerId":"push","visibility":"private"}', '865bf4ab27a64eebee13e497624c1ded7ad7358e07f6007ec298bbaac0db3360', 'baf47b713d589a1fa4a835660ee89d644870477330fbfb11376fd5a8e22977e9');
insert into "audit" values ('wsp_dddenpf456ywihra', 7, 1795894402400, 'usr_2t6ww9sjjdhsh2pw', 'session:ses_b5u92a3ejice79h7', 'invitation.created', 'invitation', 'inv_chaqzkxsejf8fgs5', 'done', '127.0.0.1', 'req_k4gzc686ad9qeiit', '{"role":"member"}', 'baf47b713d589a1fa4a835660ee89d644870477330fbfb11376fd5a8e22977e9', '43465d0f66b72ee5703abe663e3c7d5184736f03b2f4009187c1f5552287fbe7');
insert into "audit" values ('wsp_dddenpf456ywihra', 8, 1795894402405, 'usr_2t6ww9sjjdhsh2pw', 'session:ses_b5u92a3ejice79h7', 'token.created', 'token', 'tok_fh2mrct3rvsgbq2u', 'done', '127.0.0.1', 'req_a3u3p8dfeee2azwe', '{"scopes":["kb:api"]}', '43465d0f66b72ee5703abe663e3c7d5184736f03b2f4009187c1f5552287fbe7', '09b1b04dcc5a0ddb53e5a015930ba03b589e1f8c734ed597e16ab2a4d15826df');
insert into "audit" values ('wsp_dddenpf456ywihra', 9, 1795894402645, 'usr_2t6ww9sjjdhsh2pw', 'pat:tok_fh2mrct3rvsgbq2u', 'token.first_used', 'token', 'tok_fh2mrct3rvsgbq2u', 'done', '127.0.0.1', 'req_a4d3at6huphspstp', '{"network":"127.0.0.0/24"}', '09b1b04dcc5a0ddb53e5a015930ba03b589e1f8c734ed597e16ab2a4d15826df', '1180c0589091fc69dea7bb0fca14571bed9c07bfa530e7815397d7309b556ce4');
insert into "audit" values ('wsp_dddenpf456ywihra', 10, 1795894402632, 'usr_2t6ww9sjjdhsh2pw', 'session:ses_b5u92a3ejice79h7', 'items.read', 'route', 'GET /api/connectors/search', 'done', '127.0.0.1', 'req_cew2a3ptu6xv34kz', '{"answers":4,"client":"node","kbIds":["kbi_ejvsd2xtp3r89sh4","kbi_b3exb7zqzzqzrvyu","kbi_3m5hxfysbzmg89pc","kbi_6w25kfc27g48ahjf"],"repeats":1}', '1180c0589091fc69dea7bb0fca14571bed9c07bfa530e7815397d7309b556ce4', 'ae8781600bcc29462203f5caaeb39c385cf525ed257a6d2398e9e706ca12bb62');
insert into "audit" values ('wsp_dddenpf456ywihra', 11, 1795894402638, 'usr_2t6ww9sjjdhsh2pw', 'session:ses_b5u92a3ejice79h7', 'items.read', 'route', 'GET /api/connectors/all-files', 'done', '127.0.0.1', 'req_52tkxu9ecdkefqud', '{"answers":1,"client":"node","kbIds":[],"repeats":4}', 'ae8781600bcc29462203f5caaeb39c385cf525ed257a6d2398e9e706ca12bb62', '4151dbfef0e5dfb19164f5256e107d62474bf9ec6517aa4009f17dce4cfeafca');
insert into "access_state" values ('wsp_dddenpf456ywihra', 6, 3, 2);
insert into "accesses" values ('wsp_dddenpf456ywihra', 1, '1,2');
insert into "connectors" values ('wsp_dddenpf456ywihra', 'con_d42r8hndnqvgc4uw', 'push', 'Pushed', 'usr_2t6ww9sjjdhsh2pw', 'private', '[]', '[]', '{"archives":false,"secretFiles":false}', '{"include":[],"exclude":[]}', 1, null, null, null, 'active', null, null, null, 0, null, null, 1795894402382, 'usr_2t6ww9sjjdhsh2pw', null, null, null, null, 1795894402382);
insert into "connectors" values ('wsp_dddenpf456ywihra', 'con_fjzevcq4kg9tpyst', 'filesystem', 'Notes', 'usr_2t6ww9sjjdhsh2pw', 'workspace', '[]', '[]', '{"root":"/srv/notes","gitignore":true,"generated":false,"hidden":false,"maxFileMb":50,"includeRestricted":false,"archives":false,"secretFiles":false,"watch":false}', '{"include":[],"exclude":[]}', 1, null, null, null, 'active', null, null, '{"feed":{"root":"65024:844861"}}', 0, null, 1795894400836, 1795894400817, 'usr_2t6ww9sjjdhsh2pw', null, null, null, null, 1795894400817);
insert into "connector_keys" values ('wsp_dddenpf456ywihra', 'tok_43afz2rynb7bpnfe', 'con_d42r8hndnqvgc4uw', '29b5115daf9cbff93ed3fa0d29bbcf1b335d60997a6ecf35eb1bba68888023ac', 'kb_con_hfV6', 1795894402387, 'usr_2t6ww9sjjdhsh2pw', null, null);
insert into "syncs" values ('wsp_dddenpf456ywihra', 'syn_qauszjcgrzrkrcgc', 'con_fjzevcq4kg9tpyst', 'full', 'manual', 'succeeded', 1, '{"seen":4,"upserted":4,"unchanged":0,"deleted":0,"skipped":0,"failed":0,"bytes":173,"parentMissing":0}', '{"done":4,"total":4,"note":null}', null, null, null, null, 1, 1795894400820, 1795894400836, 1795894401606, null);
insert into "items" values ('wsp_dddenpf456ywihra', 'kbi_3m5hxfysbzmg89pc', 'con_fjzevcq4kg9tpyst', 'plans/ferry.md', null, 'filesystem', 'filesystem:Notes', 'file', null, 'ferry.md', 'Ferry plan', null, '["plans"]', 'text/markdown', 52, '844877:52:1795893610812574890', 'f939a949262a39fdcf5b4254364e6df62358fded3dd02b5ac32894ab169f03a4', 52, '[{"name":"Ferry plan","level":1,"start":0}]', null, null, '[]', '{}', null, '[]', 1795893610812, 1795893610812, null, 1795894401569, 'indexed', null, null, null, 1, 'syn_qauszjcgrzrkrcgc', null, '65024:844877', 'B02QIz9FDoE9NA-_uAQUnr', 0, null, 1, null, null, null, null, null, 'text/markdown', 5, null, 0, null, null);
insert into "items" values ('wsp_dddenpf456ywihra', 'kbi_6w25kfc27g48ahjf', 'con_fjzevcq4kg9tpyst', 'plans/boats.txt', null, 'filesystem', 'filesystem:Notes', 'file', null, 'boats.txt', 'boats.txt', null, '["plans"]', 'text/plain', 20, '844886:20:1795893610812574890', '01928e5414f29f9e274405222287aaa996d9040b984e141ad84d4fdaf1ca4fdd', 20, '[]', null, null, '[]', '{}', null, '[]', 1795893610812, 1795893610812, null, 1795894401569, 'indexed', null, null, null, 1, 'syn_qauszjcgrzrkrcgc', null, '65024:844886', 's0CjvRVbLB4Tkzo9EWECkb', 0, null, 1, null, null, null, null, null, 'text/plain', 6, null, 0, null, null);
insert into "items" values ('wsp_dddenpf456ywihra', 'kbi_b3exb7zqzzqzrvyu', 'con_fjzevcq4kg9tpyst', 'harbour.md', null, 'filesystem', 'filesystem:Notes', 'file', null, 'harbour.md', 'Harbour', null, '[]', 'text/markdown', 52, '844870:52:1795893610812574890', 'd2aa0eddf9e8b74255181463d5d6bc1b0129817ec1ea69b6bc35adf9c217350c', 52, '[{"name":"Harbour","level":1,"start":0}]', null, null, '[]', '{}', null, '[]', 1795893610807, 1795893610812, null, 1795894401569, 'indexed', null, null, null, 1, 'syn_qauszjcgrzrkrcgc', null, '65024:844870', 'DpHco2naDBBq3WR-u0QXxs', 0, null, 1, null, null, null, null, null, 'text/markdown', 5, null, 0, null, null);
insert into "items" values ('wsp_dddenpf456ywihra', 'kbi_ejvsd2xtp3r89sh4', 'con_fjzevcq4kg9tpyst', 'keeper.txt', null, 'filesystem', 'filesystem:Notes', 'file', null, 'keeper.txt', 'keeper.txt', null, '[]', 'text/plain', 49, '844873:49:1795893610812574890', '8b5c6dc4ed82552cc7ff1b0a0b31d2e8c681818753292c95fbb3efb8c9112ca2', 49, '[]', null, null, '[]', '{}', null, '[]', 1795893610812, 1795893610812, null, 1795894401569, 'indexed', null, null, null, 1, 'syn_qauszjcgrzrkrcgc', null, '65024:844873', '-iFQmlU9AchbYYhyZ_sLAv', 0, null, 1, null, null, null, null, null, 'text/plain', 6, null, 0, null, null);
insert into "item_texts" values ('wsp_dddenpf456ywihra', 'kbi_3m5hxfysbzmg89pc', 0, 0, '# Ferry plan

The ferry leaves when the tide turns.
', 1);
insert into "item_texts" values ('wsp_dddenpf456ywihra', 'kbi_6w25kfc27g48ahjf', 0, 0, 'Boats: 4
Berths: 12
', 1);
insert into "item_texts" values ('wsp_dddenpf456ywihra', 'kbi_b3exb7zqzzqzrvyu', 0, 0, '# Harbour

High water at the lighthouse is at nine.
', 1);
insert into "item_texts" values ('wsp_dddenpf456ywihra', 'kbi_ejvsd2xtp3r89sh4', 0, 0, 'The lighthouse keeper writes the log each night.
', 1);
insert into "entities" values ('wsp_dddenpf456ywihra', 'ent_t728vk2ig4zgbhtr', 'folder', 'con_fjzevcq4kg9tpyst:plans');
insert into "item_entities" values ('wsp_dddenpf456ywihra', 'kbi_3m5hxfysbzmg89pc', 'ent_t728vk2ig4zgbhtr', 'container', 'plans', 'plans', null, null, 0, 1);
insert into "item_entities" values ('wsp_dddenpf456ywihra', 'kbi_6w25kfc27g48ahjf', 'ent_t728vk2ig4zgbhtr', 'container', 'plans', 'plans', null, null, 0, 1);
insert into "index_state" values (1, 'wsp_dddenpf456ywihra', 0, 4, 0, 0, 0, 0, 3);
insert into "sqlite_sequence" values ('index_state', 1);
insert into "index_delta" values (4294967297, 1, 'kbi_b3exb7zqzzqzrvyu', x'00c0939c39227a420070939c39227a42000000000000f87f010000000100000019000000450000000b000000440000001400000081ff3655ad421653ba6320842dc1d9cd3a4e73791206d6d36b62695f6233657862377a717a7a717a727679755b2266696c6573797374656d222c2266696c6573797374656d3a4e6f746573222c22636f6e5f666a7a65766371346b67397470797374222c5b5d2c5b5d2c5b5d2c5b5d5d', '=lighthouse
at
harbour
harbour.md
high
is
lighthous
md
nine
the
water', x'0102090401010104010101');
insert into "index_delta" values (4294967298, 1, 'kbi_ejvsd2xtp3r89sh4', x'00c0939c39227a4200c0939c39227a42000000000000f87f0200000001000000140000004c0000000b000000440000001400000081ff3655a1dd52b519b05fb3d9cd006ebf791206da0c7a216b62695f656a76736432787470337238397368345b2266696c6573797374656d222c2266696c6573797374656d3a4e6f746573222c22636f6e5f666a7a65766371346b67397470797374222c5b5d2c5b5d2c5b5d2c5b5d5d', '=lighthouse
=writes
each
keeper
keeper.txt
lighthous
log
night
the
txt
write', x'0101010504010101020401');
insert into "index_delta" values (4294967299, 1, 'kbi_6w25kfc27g48ahjf', x'00c0939c39227a4200c0939c39227a42000000000000f87f030000000100000012000000380000000a0000005a0000001400000081ff81306f939e29c06792a5d43e4c9a49e8d970da0c6b62695f367732356b6663323767343861686a665b2266696c6573797374656d222c2266696c6573797374656d3a4e6f746573222c22636f6e5f666a7a65766371346b67397470797374222c5b5d2c5b5d2c5b22656e745f74373238766b326967347a6762687472225d2c5b5d5d', '12
4
=berths
=boats
=plans
berth
boat
boats.txt
plan
txt', x'01010105020105040204');
insert into "index_delta" values (4294967300, 1, 'kbi_3m5hxfysbzmg89pc', x'00c0939c39227a4200c0939c39227a42000000000000f87f04000000010000001f0000004b0000000d0000005a0000001400000081ff4fdda43092a5b90cdbce86f56da23a4ed97012061c8a31436efa6b62695f336d356878667973627a6d67383970635b2266696c6573797374656d222c2266696c6573797374656d3a4e6f746573222c22636f6e5f666a7a65766371346b67397470797374222c5b5d2c5b5d2c5b22656e745f74373238766b326967347a6762687472225d2c5b5d5d', '=ferry
=leaves
=plans
=turns
ferri
ferry.md
leav
md
plan
the
tide
turn
when', x'0a0102010a0401040702010101');
insert into "memberships" values ('wsp_dddenpf456ywihra', 'group:connector:con_d42r8hndnqvgc4uw', 'user:usr_2t6ww9sjjdhsh2pw', 'kb');
insert into "memberships" values ('wsp_dddenpf456ywihra', 'group:connector:con_fjzevcq4kg9tpyst', 'workspace', 'kb');
insert into "workspace_turns" values ('wsp_dddenpf456ywihra', 1795894400831);
insert into "connector_bindings" values ('wsp_dddenpf456ywihra', 'con_fjzevcq4kg9tpyst', '[null,null,null]', 1, null, null, '', 0);
insert into "connector_accounts" values ('wsp_dddenpf456ywihra', 'con_d42r8hndnqvgc4uw', null, null);
insert into "connector_accounts" values ('wsp_dddenpf456ywihra', 'con_fjzevcq4kg9tpyst', null, null);
insert into "access_lists" values ('wsp_dddenpf456ywihra', 1, '["workspace"]', 240390081611856);
insert into "access_lists" values ('wsp_dddenpf456ywihra', 2, '["group:connector:con_fjzevcq4kg9tpyst"]', 206386846288731);
insert into "access_principals" values ('wsp_dddenpf456ywihra', 'group:connector:con_fjzevcq4kg9tpyst', 1);
insert into "access_principals" values ('wsp_dddenpf456ywihra', 'workspace', 2);
insert into "access_numbers" values (3);
insert into "access_list_principals" values (1, 2);
insert into "access_list_principals" values (2, 1);
commit;
