import { sql, type CreateTableBuilder, type Kysely } from "kysely";

type Column = "text" | "text?" | "integer" | "integer?";
type Columns = Record<string, Column>;

/** All tables of version 1. Runs unchanged on SQLite and PostgreSQL. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createInstallation(db);
  await createPeople(db);
  await createAccess(db);
  await createConnectors(db);
  await createItems(db);
}

async function createInstallation(db: Kysely<unknown>): Promise<void> {
  await table(db, "installation", ["id"], {
    id: "integer",
    completedAt: "integer?",
    setupCodeHash: "text?",
    setupCodeExpiresAt: "integer?",
    setupCodeTries: "integer",
  }).execute();
  await table(db, "local_roots", ["rootId"], { rootId: "text", path: "text", createdBy: "text", createdAt: "integer" })
    .addUniqueConstraint("local_roots_path", ["path"])
    .execute();
}

async function createPeople(db: Kysely<unknown>): Promise<void> {
  await table(db, "users", ["userId"], {
    userId: "text",
    email: "text",
    emailKey: "text",
    name: "text",
    passwordHash: "text?",
    emailVerifiedAt: "integer?",
    timeZone: "text?",
    createdAt: "integer",
  })
    .addUniqueConstraint("users_email", ["emailKey"])
    .execute();
  await table(db, "workspaces", ["workspaceId"], {
    workspaceId: "text",
    name: "text",
    timeZone: "text",
    createdAt: "integer",
  }).execute();
  await tenant(db, "members", ["userId"], { userId: "text", role: "text", joinedAt: "integer" })
    .addForeignKeyConstraint("members_user", ["userId"], "users", ["userId"])
    .execute();
  await index(db, "members_by_user", "members", ["userId"]);
  await tenant(db, "invitations", ["invitationId"], {
    invitationId: "text",
    email: "text",
    role: "text",
    tokenHash: "text",
    invitedBy: "text",
    createdAt: "integer",
    expiresAt: "integer",
    acceptedAt: "integer?",
    revokedAt: "integer?",
  })
    .addUniqueConstraint("invitations_token", ["tokenHash"])
    .execute();
  await tenant(db, "groups", ["groupId"], { groupId: "text", name: "text", createdAt: "integer" }).execute();
  await table(db, "sessions", ["sessionId"], {
    sessionId: "text",
    tokenHash: "text",
    userId: "text",
    workspaceId: "text",
    createdAt: "integer",
    authenticatedAt: "integer",
    lastSeenAt: "integer",
    expiresAt: "integer",
    revokedAt: "integer?",
    userAgent: "text?",
    ip: "text?",
  })
    .addUniqueConstraint("sessions_token", ["tokenHash"])
    .addForeignKeyConstraint("sessions_workspace", ["workspaceId"], "workspaces", ["workspaceId"])
    .addForeignKeyConstraint("sessions_user", ["userId"], "users", ["userId"])
    .execute();
  await index(db, "sessions_by_user", "sessions", ["userId"]);
  await tenant(db, "api_tokens", ["tokenId"], {
    tokenId: "text",
    userId: "text",
    name: "text",
    prefix: "text",
    hash: "text",
    scopes: "text",
    createdAt: "integer",
    lastUsedAt: "integer?",
    expiresAt: "integer?",
    revokedAt: "integer?",
  })
    .addUniqueConstraint("api_tokens_hash", ["hash"])
    .addForeignKeyConstraint("api_tokens_user", ["userId"], "users", ["userId"])
    .execute();
  await index(db, "api_tokens_by_user", "api_tokens", ["workspaceId", "userId", "createdAt"]);
  await tenant(db, "audit", ["seq"], {
    seq: "integer",
    at: "integer",
    actorUserId: "text?",
    credential: "text",
    action: "text",
    targetType: "text",
    targetId: "text",
    outcome: "text",
    ip: "text?",
    requestId: "text?",
    details: "text",
  }).execute();
}

async function createAccess(db: Kysely<unknown>): Promise<void> {
  await tenant(db, "access_state", [], { epoch: "integer", nextListId: "integer", nextAclId: "integer" }).execute();
  await tenant(db, "access_lists", ["listId"], { listId: "integer", principals: "text" })
    .addUniqueConstraint("access_lists_principals", ["workspaceId", "principals"])
    .execute();
  await tenant(db, "access_list_principals", ["principal", "listId"], { principal: "text", listId: "integer" })
    .addForeignKeyConstraint("access_list_principals_list", ["workspaceId", "listId"], "access_lists", [
      "workspaceId",
      "listId",
    ])
    .execute();
  await tenant(db, "accesses", ["aclId"], { aclId: "integer", listIds: "text" })
    .addUniqueConstraint("accesses_lists", ["workspaceId", "listIds"])
    .execute();
  await tenant(db, "memberships", ["groupPrincipal", "memberPrincipal", "reportedBy"], {
    groupPrincipal: "text",
    memberPrincipal: "text",
    reportedBy: "text",
  }).execute();
  await index(db, "memberships_by_member", "memberships", ["workspaceId", "memberPrincipal"]);
}

async function createConnectors(db: Kysely<unknown>): Promise<void> {
  await tenant(db, "connectors", ["connectorId"], {
    connectorId: "text",
    providerId: "text",
    name: "text",
    ownerUserId: "text",
    visibility: "text",
    memberIds: "text",
    groupIds: "text",
    config: "text",
    scope: "text",
    scopeVersion: "integer",
    accountId: "text?",
    connectionId: "text?",
    everyMinutes: "integer?",
    state: "text",
    stateReason: "text?",
    nextRunAt: "integer?",
    cursor: "text?",
    consecutiveFailures: "integer",
    aclCheckedAt: "integer?",
    lastFullAt: "integer?",
    createdAt: "integer",
    createdBy: "text",
  }).execute();
  await index(db, "connectors_due", "connectors", ["state", "nextRunAt"]);
  await ofConnector(db, "connector_keys", ["keyId"], {
    keyId: "text",
    connectorId: "text",
    hash: "text",
    prefix: "text",
    createdAt: "integer",
    createdBy: "text",
    expiresAt: "integer?",
    revokedAt: "integer?",
  })
    .addUniqueConstraint("connector_keys_hash", ["hash"])
    .execute();
  await ofConnector(db, "syncs", ["syncId"], {
    syncId: "text",
    connectorId: "text",
    mode: "text",
    trigger: "text",
    state: "text",
    attempt: "integer",
    counts: "text",
    progress: "text",
    items: "text?",
    resumeAt: "integer?",
    cancelRequestedAt: "integer?",
    problem: "text?",
    scopeVersion: "integer",
    createdAt: "integer",
    startedAt: "integer?",
    finishedAt: "integer?",
  }).execute();
  await index(db, "syncs_by_connector", "syncs", ["workspaceId", "connectorId", "createdAt"]);
  await tenant(db, "sync_skips", ["syncId", "externalId"], {
    syncId: "text",
    externalId: "text",
    reason: "text",
    message: "text",
    retryable: "integer",
  })
    .addForeignKeyConstraint("sync_skips_sync", ["workspaceId", "syncId"], "syncs", ["workspaceId", "syncId"], (fk) =>
      fk.onDelete("cascade"),
    )
    .execute();
  await table(db, "jobs", ["jobId"], {
    jobId: "text",
    workspaceId: "text",
    type: "text",
    dedupeKey: "text",
    payload: "text",
    priority: "integer",
    runAt: "integer",
    attempt: "integer",
    leaseOwner: "text?",
    leaseUntil: "integer?",
    createdAt: "integer",
  })
    .addUniqueConstraint("jobs_dedupe", ["dedupeKey"])
    .execute();
  await index(db, "jobs_due", "jobs", ["runAt", "priority"]);
}

async function createItems(db: Kysely<unknown>): Promise<void> {
  await ofConnector(db, "items", ["kbId"], {
    kbId: "text",
    connectorId: "text",
    externalId: "text",
    parentExternalId: "text?",
    providerId: "text",
    source: "text",
    kind: "text",
    subkind: "text?",
    key: "text?",
    title: "text",
    url: "text?",
    path: "text",
    mimeType: "text?",
    size: "integer?",
    version: "text?",
    textHash: "text?",
    textChars: "integer",
    sections: "text",
    status: "text?",
    priority: "text?",
    labels: "text",
    fields: "text",
    author: "text?",
    assignees: "text",
    createdAt: "integer?",
    updatedAt: "integer?",
    dueAt: "integer?",
    indexedAt: "integer",
    indexState: "text",
    textReason: "text?",
    textMessage: "text?",
    retryAt: "integer?",
    aclId: "integer",
    seenBy: "text?",
    removedAt: "integer?",
    identityHint: "text?",
    indexHash: "text?",
  })
    .addUniqueConstraint("items_external", ["workspaceId", "connectorId", "externalId"])
    .execute();
  await index(db, "items_by_url", "items", ["workspaceId", "url"]);
  await index(db, "items_by_key", "items", ["workspaceId", "key"]);
  await createItemLists(db);
  await ofItem(db, "item_texts", ["chunk"], { chunk: "integer", start: "integer", text: "text" }).execute();
  await tenant(db, "entities", ["entityId"], { entityId: "text", type: "text", identity: "text" })
    .addUniqueConstraint("entities_identity", ["workspaceId", "type", "identity"])
    .execute();
  await ofItem(db, "item_entities", ["entityId", "role"], {
    entityId: "text",
    role: "text",
    name: "text",
    nameKey: "text",
    email: "text?",
    login: "text?",
    claimed: "integer",
  }).execute();
  await index(db, "item_entities_by_entity", "item_entities", ["workspaceId", "entityId"]);
  await index(db, "item_entities_by_name", "item_entities", ["workspaceId", "nameKey", "entityId", "kbId"]);
  await ofConnector(db, "removals", ["kbId"], {
    connectorId: "text",
    kbId: "text",
    syncId: "text?",
    heldAt: "integer",
  }).execute();
  await ofConnector(db, "removal_windows", ["connectorId", "startsAt"], {
    connectorId: "text",
    startsAt: "integer",
    highest: "integer",
    removed: "integer",
  }).execute();
  await createItemRelations(db);
}

/** Finding the parts of an item, a renamed item and tombstones that are due costs nothing where there are none. */
async function createItemRelations(db: Kysely<unknown>): Promise<void> {
  const partial = { items_by_parent: "parentExternalId", items_by_hint: "identityHint" } as const;
  for (const [name, column] of Object.entries(partial)) {
    await db.schema
      .createIndex(name)
      .on("items")
      .columns(["workspaceId", "connectorId", column])
      .where(sql<boolean>`${sql.ref(column)} is not null`)
      .execute();
  }
  await db.schema
    .createIndex("items_removed")
    .on("items")
    .columns(["removedAt"])
    .where(sql<boolean>`"removedAt" is not null`)
    .execute();
}

/** Lists walk and count living items without reading a row: each index holds every column they use. */
async function createItemLists(db: Kysely<unknown>): Promise<void> {
  // `removedAt` must stand in the index, or SQLite reads the row for it; at its end, or SQLite takes "not removed" for
  // the rarer condition and prefers these indexes to the keys.
  const columns = {
    items_by_updated: sql`"workspaceId", "updatedAt", "kbId", "aclId", "removedAt"`,
    items_by_title: sql`"workspaceId", lower("title"), "kbId", "aclId", "removedAt"`,
    items_by_place: sql`"workspaceId", "connectorId", "source", "kind", "indexState", "aclId", "removedAt"`,
  };
  for (const [name, expression] of Object.entries(columns)) {
    await db.schema.createIndex(name).on("items").expression(expression).execute();
  }
}

function table(db: Kysely<unknown>, name: string, key: string[], columns: Columns): CreateTableBuilder<string, string> {
  let builder: CreateTableBuilder<string, string> = db.schema.createTable(name);
  for (const [column, type] of Object.entries(columns)) {
    builder = builder.addColumn(column, type.startsWith("text") ? "text" : "bigint", (c) =>
      type.endsWith("?") ? c : c.notNull(),
    );
  }
  return builder.addPrimaryKeyConstraint(`${name}_key`, key);
}

/** A tenant table: `workspaceId` leads its key, and the row goes with its workspace. */
function tenant(db: Kysely<unknown>, name: string, key: string[], columns: Columns) {
  return table(db, name, ["workspaceId", ...key], { workspaceId: "text", ...columns }).addForeignKeyConstraint(
    `${name}_workspace`,
    ["workspaceId"],
    "workspaces",
    ["workspaceId"],
    (fk) => fk.onDelete("cascade"),
  );
}

function ofConnector(db: Kysely<unknown>, name: string, key: string[], columns: Columns) {
  return tenant(db, name, key, columns).addForeignKeyConstraint(
    `${name}_connector`,
    ["workspaceId", "connectorId"],
    "connectors",
    ["workspaceId", "connectorId"],
    (fk) => fk.onDelete("cascade"),
  );
}

function ofItem(db: Kysely<unknown>, name: string, key: string[], columns: Columns) {
  return tenant(db, name, ["kbId", ...key], { kbId: "text", ...columns }).addForeignKeyConstraint(
    `${name}_item`,
    ["workspaceId", "kbId"],
    "items",
    ["workspaceId", "kbId"],
    (fk) => fk.onDelete("cascade"),
  );
}

async function index(db: Kysely<unknown>, name: string, on: string, columns: string[]): Promise<void> {
  await db.schema.createIndex(name).on(on).columns(columns).execute();
}
