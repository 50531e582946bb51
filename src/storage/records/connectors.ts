import type { Kysely, Selectable, Updateable } from "kysely";
import type { Scope } from "#core/scope.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { compiledQuery } from "#storage/compiled-query.ts";
import type { ConnectorsTable, Tables } from "#storage/schema.ts";
import type { Binding } from "./binding.ts";

export const CONNECTOR_STATES = [
  "pending_auth",
  "active",
  "paused",
  "needs_reauth",
  "needs_owner",
  "error",
  "deleting",
] as const;
export type ConnectorState = (typeof CONNECTOR_STATES)[number];

export const VISIBILITIES = ["private", "members", "workspace", "source"] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** A scope, and what its owner saw as the names of its entries: no source looks at these, and nobody else reads them. */
export type StoredScope = Scope & { titles?: Readonly<Record<string, string>> };

/** A configured instance that indexes one source kind. Times are epoch milliseconds. */
export interface ConnectorRecord {
  connectorId: string;
  providerId: string;
  name: string;
  ownerUserId: string;
  visibility: Visibility;
  memberIds: string[];
  groupIds: string[];
  /** As its source's schema parsed it; never a secret. */
  config: Record<string, unknown>;
  scope: StoredScope;
  /** Rises with each change of scope or config: a run of an older one stores nothing more. */
  scopeVersion: number;
  accountId: string | null;
  connectionId: string | null;
  everyMinutes: number | null;
  state: ConnectorState;
  stateReason: string | null;
  nextRunAt: number | null;
  /** What its source said last; opaque to everybody else. */
  cursor: unknown;
  consecutiveFailures: number;
  /** When a listing last would have shown a change of permissions. Source: S23. */
  aclCheckedAt: number | null;
  /** Since when its source refuses it everything (401); null while it answers. */
  refusedAt: number | null;
  /** When a run that could prove its permissions was last put in line. */
  proofTriedAt: number | null;
  lastFullAt: number | null;
  /** Who paused it; null = it isn't, or nobody knows any more. */
  pausedBy: string | null;
  /** Since when nobody reads anything of it, until what was read elsewhere is removed; null = people do. */
  withheldAt: number | null;
  /** Since when it is its owner's: created, or taken over. */
  ownedSince: number;
  createdAt: number;
  /** Whose role says how far it may reach: its maker, or who took it over. */
  createdBy: string;
}

export interface ConnectorKeyRecord {
  keyId: string;
  connectorId: string;
  /** SHA-256 of the plaintext, hex. */
  hash: string;
  prefix: string;
  createdAt: number;
  createdBy: string;
  expiresAt: number | null;
  revokedAt: number | null;
}

/** What a connector signs in with. */
export interface ConnectorCredentialRecord {
  connectorId: string;
  /** As the vault sealed it. */
  sealed: string;
  givenBy: string;
  givenAt: number;
}

/** What the app of a connector signs its notifications with. */
export interface ConnectorWebhookRecord {
  connectorId: string;
  /** As the vault sealed it. */
  sealed: string;
  madeAt: number;
}

export type ConnectorPatch = Partial<Omit<ConnectorRecord, "connectorId" | "providerId" | "createdAt">>;

// A push asks these for each of its slices, and a key is found for each request.
const FIND = compiledQuery((read, workspaceId: string, connectorId: string) =>
  read
    .selectFrom("connectors")
    .selectAll()
    .where("workspaceId", "=", workspaceId)
    .where("connectorId", "=", connectorId),
);
const LIST_KEYS = compiledQuery((read, workspaceId: string, connectorId: string, now: number) =>
  openKeys(read, workspaceId, now).where("connectorId", "=", connectorId),
);

function openKeys(read: Kysely<Tables>, workspaceId: string, now: number) {
  return read
    .selectFrom("connector_keys")
    .selectAll()
    .where("workspaceId", "=", workspaceId)
    .where("revokedAt", "is", null)
    .where((eb) => eb.or([eb("expiresAt", "is", null), eb("expiresAt", ">", now)]))
    .orderBy("createdAt", "desc")
    .orderBy("keyId");
}

/** Connectors and their keys. */
export function makeConnectorStore(sql: SqlHandles, workspaceId: string) {
  const rows = () => sql.read.selectFrom("connectors").selectAll().where("workspaceId", "=", workspaceId);

  return {
    async create(connector: ConnectorRecord): Promise<void> {
      const { connectorId, providerId, createdAt, createdBy, ...rest } = connector;
      // A whole record gives every column.
      const row = toRow(rest) as Omit<ConnectorsTable, "workspaceId">;
      await sql.write
        .insertInto("connectors")
        .values({ ...row, workspaceId, connectorId, providerId, createdAt, createdBy })
        .execute();
    },
    async find(connectorId: string): Promise<ConnectorRecord | undefined> {
      const [row] = await FIND(sql.read, workspaceId, connectorId);
      return row && toRecord(row);
    },

    /** All of the workspace, the oldest first; one workspace has some hundred at most. */
    async list(): Promise<ConnectorRecord[]> {
      return (await rows().orderBy("createdAt").orderBy("connectorId").execute()).map(toRecord);
    },

    /** Those that read with an account and are not being deleted. */
    async listOnAccount(accountId: string): Promise<ConnectorRecord[]> {
      const found = rows().where("accountId", "=", accountId).where("state", "!=", "deleting");
      return (await found.orderBy("connectorId").execute()).map(toRecord);
    },

    /** Those that read through a connection and are not being deleted. */
    async listOnConnection(connectionId: string): Promise<ConnectorRecord[]> {
      const found = rows().where("connectionId", "=", connectionId).where("state", "!=", "deleting");
      return (await found.orderBy("connectorId").execute()).map(toRecord);
    },

    async update(connectorId: string, patch: ConnectorPatch): Promise<void> {
      const row = toRow(patch);
      if (Object.keys(row).length === 0) return;
      await sql.write
        .updateTable("connectors")
        .set(row)
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
    },

    /** Deletes the record with its syncs, keys and whatever still hangs on it. */
    async remove(connectorId: string): Promise<void> {
      await sql.write
        .deleteFrom("connector_tenants")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
      await sql.write
        .deleteFrom("connectors")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
    },
    async addKey(key: ConnectorKeyRecord): Promise<void> {
      await sql.write
        .insertInto("connector_keys")
        .values({ workspaceId, ...key })
        .execute();
    },

    /** Keys that open at this time, the newest first. */
    async listKeys(connectorId: string, now: number): Promise<ConnectorKeyRecord[]> {
      return LIST_KEYS(sql.read, workspaceId, connectorId, now);
    },

    /** The connectors that keys of this workspace were made for by this person, still open. */
    async listKeysMadeBy(userId: string, now: number): Promise<ConnectorKeyRecord[]> {
      return openKeys(sql.read, workspaceId, now).where("createdBy", "=", userId).execute();
    },
    async findCredentials(connectorId: string): Promise<ConnectorCredentialRecord | undefined> {
      return sql.read
        .selectFrom("connector_credentials")
        .select(["connectorId", "sealed", "givenBy", "givenAt"])
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .executeTakeFirst();
    },
    async addCredentials(credentials: ConnectorCredentialRecord): Promise<void> {
      await sql.write
        .insertInto("connector_credentials")
        .values({ workspaceId, ...credentials })
        .execute();
    },

    /** Puts another envelope over the same secret, unless it was replaced meanwhile. */
    async resealCredentials(connectorId: string, before: string, after: string): Promise<void> {
      await sql.write
        .updateTable("connector_credentials")
        .set({ sealed: after })
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where("sealed", "=", before)
        .execute();
    },
    /** The sealed secret of its webhook, if there is one. */
    async findWebhook(connectorId: string): Promise<{ sealed: string; madeAt: number } | undefined> {
      return sql.read
        .selectFrom("connector_webhooks")
        .select(["sealed", "madeAt"])
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .executeTakeFirst();
    },

    /** Replaces the secret of its webhook. */
    async putWebhook({ connectorId, ...made }: ConnectorWebhookRecord): Promise<void> {
      await sql.write
        .insertInto("connector_webhooks")
        .values({ workspaceId, connectorId, ...made })
        .onConflict((oc) => oc.columns(["workspaceId", "connectorId"]).doUpdateSet(made))
        .execute();
    },

    /** Ends the secret of its webhook: notifications are refused until there is another. */
    async deleteWebhook(connectorId: string): Promise<void> {
      await sql.write
        .deleteFrom("connector_webhooks")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
    },

    async deleteCredentials(connectorId: string): Promise<void> {
      await sql.write
        .deleteFrom("connector_credentials")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
    },

    /** What the cursor and the state are good for. */
    async findBinding(connectorId: string): Promise<Binding | undefined> {
      return sql.read
        .selectFrom("connector_bindings")
        .select(["place", "version", "account", "scopes", "credentials"])
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .executeTakeFirst();
    },
    /** Clocks of its items that stand before are nobody's. */
    async believeFrom(connectorId: string, clocksFrom: number): Promise<void> {
      await sql.write
        .updateTable("connector_bindings")
        .set({ clocksFrom })
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
    },

    async bind(connectorId: string, binding: Binding): Promise<void> {
      await sql.write
        .insertInto("connector_bindings")
        .values({ workspaceId, connectorId, ...binding })
        .onConflict((oc) => oc.columns(["workspaceId", "connectorId"]).doUpdateSet(binding))
        .execute();
    },

    /** Whose credentials it has and what they were granted, as the source told last. */
    async findAccount(connectorId: string): Promise<{ accountId: string | null; scopes: string | null } | undefined> {
      return sql.read
        .selectFrom("connector_accounts")
        .select(["accountId", "scopes"])
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .executeTakeFirst();
    },
    async setAccount(
      connectorId: string,
      told: { accountId: string | undefined; scopes: readonly string[] | undefined },
    ): Promise<void> {
      const scopes = told.scopes ? JSON.stringify([...new Set(told.scopes)].sort()) : null;
      const row = { accountId: told.accountId ?? null, scopes };
      await sql.write
        .insertInto("connector_accounts")
        .values({ workspaceId, connectorId, ...row })
        .onConflict((oc) => oc.columns(["workspaceId", "connectorId"]).doUpdateSet(row))
        .execute();
    },

    /** Forgets what the source keeps besides its cursor. */
    async dropState(connectorId: string): Promise<void> {
      await sql.write
        .deleteFrom("source_state")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .execute();
    },

    /** Keys end at `endsAt` unless they end sooner. */
    async endKeys(keyIds: readonly string[], endsAt: number): Promise<void> {
      if (keyIds.length === 0) return;
      await sql.write
        .updateTable("connector_keys")
        .set({ expiresAt: endsAt })
        .where("workspaceId", "=", workspaceId)
        .where("keyId", "in", [...keyIds])
        .where((eb) => eb.or([eb("expiresAt", "is", null), eb("expiresAt", ">", endsAt)]))
        .execute();
    },
  };
}

function toRow(patch: ConnectorPatch): Updateable<ConnectorsTable> {
  const { memberIds, groupIds, config, scope, cursor, ...plain } = patch;
  return {
    ...plain,
    ...(memberIds && { memberIds: JSON.stringify(memberIds) }),
    ...(groupIds && { groupIds: JSON.stringify(groupIds) }),
    ...(config && { config: JSON.stringify(config) }),
    ...(scope && { scope: JSON.stringify(scope) }),
    ...(cursor !== undefined && { cursor: cursor === null ? null : JSON.stringify(cursor) }),
  };
}

/** JSON and closed sets are written by `toRow` only, from the types named here. */
function toRecord(row: Selectable<ConnectorsTable>): ConnectorRecord {
  const { workspaceId: _workspaceId, ...plain } = row;
  return {
    ...plain,
    visibility: row.visibility as Visibility,
    state: row.state as ConnectorState,
    memberIds: JSON.parse(row.memberIds) as string[],
    groupIds: JSON.parse(row.groupIds) as string[],
    config: JSON.parse(row.config) as Record<string, unknown>,
    scope: JSON.parse(row.scope) as StoredScope,
    cursor: row.cursor === null ? null : (JSON.parse(row.cursor) as unknown),
  };
}
