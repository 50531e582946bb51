import type { Selectable } from "kysely";
import type { Role } from "#api/common.ts";
import type { Principal } from "#core/principals.ts";
import { connectionPrincipal } from "#storage/access/item-clocks.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { ConnectionsTable } from "#storage/schema.ts";
import { endFlows } from "./accounts.ts";
import { makeAccessStore } from "./access.ts";
import { makeQueueStore } from "./queue.ts";

/** `server`: signed with the server's own secret; `secret`: with one of its owner's. */
export type ConnectionWay = "none" | "server" | "secret" | "oauth";
export type ConnectionStatus = "pending" | "active" | "needs_reauth" | "failed" | "expired" | "revoked";

/** Where a connection signed in. Another issuer or token endpoint later is another authorization server. Source: S31. */
export interface ConnectionAuthorization {
  issuer: string;
  tokenEndpoint: string;
  revocationEndpoint?: string;
  resource: string;
  clientId: string;
  authMethod: "none" | "client_secret_post" | "client_secret_basic";
  /** Rights that the server asked for since. */
  wanted?: string[];
}

/** A person's connection to an app of a server. Instants are epoch milliseconds. */
export interface ConnectionRecord {
  connectionId: string;
  serverId: string;
  ownerUserId: string;
  app: string;
  name: string;
  way: ConnectionWay;
  status: ConnectionStatus;
  statusReason: string | null;
  visibility: "private" | "members" | "workspace";
  memberIds: readonly string[];
  groupIds: readonly string[];
  /** Who it is at the provider; null = nobody can tell. */
  accountId: string | null;
  accountLabel: string | null;
  scopes: readonly string[];
  authorization: ConnectionAuthorization | null;
  /** While `pending`: until when somebody can finish it. */
  pendingUntil: number | null;
  /** In each role the tool that its owner agreed to, as it was mapped then; null = none. Source: S65. */
  agreed: unknown;
  /** Since when its owner is asked to agree to how the tools are mapped now; null = they needn't. */
  waitingSince: number | null;
  lastUsedAt: number | null;
  lastCheckedAt: number | null;
  createdAt: number;
}

export type ConnectionPatch = Partial<
  Omit<ConnectionRecord, "connectionId" | "serverId" | "ownerUserId" | "app" | "createdAt">
>;

/** What signs a connection's requests, as it is stored. */
export interface ConnectionSecret {
  sealed: string;
  /** Counts the tokens that it had. */
  version: number;
  expiresAt: number | null;
}

/** People's connections in one workspace. */
export function makeConnectionStore(sql: SqlHandles, workspaceId: string) {
  const some = () => sql.read.selectFrom("connections").selectAll().where("workspaceId", "=", workspaceId);
  const one = (connectionId: string) =>
    sql.write
      .updateTable("connections")
      .where("workspaceId", "=", workspaceId)
      .where("connectionId", "=", connectionId);
  const secret = (connectionId: string) =>
    sql.write
      .updateTable("connection_secrets")
      .where("workspaceId", "=", workspaceId)
      .where("connectionId", "=", connectionId);

  return {
    /** Ended ones too. */
    async find(connectionId: string): Promise<ConnectionRecord | undefined> {
      const row = await some().where("connectionId", "=", connectionId).executeTakeFirst();
      return row && toRecord(row);
    },

    /** Those of a server, or of all; revoked ones are left out. Oldest first. */
    async list(which: { serverId?: string; ownerUserId?: string } = {}): Promise<ConnectionRecord[]> {
      let query = some().where("status", "!=", "revoked");
      if (which.serverId !== undefined) query = query.where("serverId", "=", which.serverId);
      if (which.ownerUserId !== undefined) query = query.where("ownerUserId", "=", which.ownerUserId);
      const rows = await query.orderBy("createdAt").orderBy("connectionId").execute();
      return rows.map(toRecord);
    },

    async insert(connection: ConnectionRecord): Promise<void> {
      // Every column is there: a record has every field.
      const row = { ...toRow(connection), workspaceId } as Selectable<ConnectionsTable>;
      await sql.write.insertInto("connections").values(row).execute();
    },

    async update(connectionId: string, patch: ConnectionPatch): Promise<void> {
      const row = toRow(patch);
      if (Object.keys(row).length > 0) await one(connectionId).set(row).execute();
    },

    async remove(connectionId: string): Promise<void> {
      await sql.write
        .deleteFrom("connections")
        .where("workspaceId", "=", workspaceId)
        .where("connectionId", "=", connectionId)
        .execute();
    },

    async findSecret(connectionId: string): Promise<ConnectionSecret | undefined> {
      return sql.read
        .selectFrom("connection_secrets")
        .select(["sealed", "version", "expiresAt"])
        .where("workspaceId", "=", workspaceId)
        .where("connectionId", "=", connectionId)
        .executeTakeFirst();
    },

    /** Replaces what there was; a lock on it is gone. */
    async putSecret(connectionId: string, { sealed, expiresAt }: Omit<ConnectionSecret, "version">): Promise<void> {
      await sql.write
        .insertInto("connection_secrets")
        .values({ workspaceId, connectionId, sealed, expiresAt, version: 1, lockedBy: null, lockedUntil: null })
        .onConflict((oc) =>
          oc.columns(["workspaceId", "connectionId"]).doUpdateSet((eb) => ({
            sealed,
            expiresAt,
            version: eb("connection_secrets.version", "+", 1),
            lockedBy: null,
            lockedUntil: null,
          })),
        )
        .execute();
    },

    async dropSecret(connectionId: string): Promise<void> {
      await sql.write
        .deleteFrom("connection_secrets")
        .where("workspaceId", "=", workspaceId)
        .where("connectionId", "=", connectionId)
        .execute();
    },

    /** Ways to its provider, with what was found at the end of one; as `endFlows`. */
    dropFlows: (connectionId: string): Promise<void> => endFlows(sql, { workspaceId, providerId: connectionId }),

    /** Lets one caller alone get new tokens; as `AccountStore.lock`. */
    async lock(connectionId: string, version: number, lock: { by: string; now: number; until: number }) {
      const { numUpdatedRows } = await secret(connectionId)
        .set({ lockedBy: lock.by, lockedUntil: lock.until })
        .where("version", "=", version)
        .where((eb) => eb.or([eb("lockedUntil", "is", null), eb("lockedUntil", "<=", lock.now)]))
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    /** Puts the tokens that the holder of the lock got. False when it is not its any more. */
    async putLocked(connectionId: string, by: string, tokens: Omit<ConnectionSecret, "version">): Promise<boolean> {
      const { numUpdatedRows } = await secret(connectionId)
        .set((eb) => ({ ...tokens, version: eb("version", "+", 1), lockedBy: null, lockedUntil: null }))
        .where("lockedBy", "=", by)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async unlock(connectionId: string, by: string): Promise<void> {
      await secret(connectionId).set({ lockedBy: null, lockedUntil: null }).where("lockedBy", "=", by).execute();
    },

    /** Puts another envelope over the same tokens, unless they were replaced meanwhile. */
    async reseal(connectionId: string, before: string, after: string): Promise<void> {
      await secret(connectionId).set({ sealed: after }).where("sealed", "=", before).execute();
    },
  };
}

/** Connections that nobody finished, across workspaces. */
export function makeConnectionLookup(sql: SqlHandles) {
  return {
    /** Marks those whose time is up as expired; a day later, and a while after they were revoked, their records go. */
    async expire(now: number): Promise<void> {
      const due = await sql.read
        .selectFrom("connections")
        .select("connectionId")
        .where("pendingUntil", "<=", now)
        .limit(1)
        .execute();
      if (due.length === 0) return;
      await sql.write
        .deleteFrom("connections")
        .where("pendingUntil", "<=", now)
        .where("status", "in", ["expired", "failed", "revoked"])
        .execute();
      await sql.write
        .updateTable("connections")
        .set({ status: "expired", pendingUntil: now + KEEP_EXPIRED_MS })
        .where("pendingUntil", "<=", now)
        .where("status", "=", "pending")
        .execute();
    },
  };
}

/** How long the record of one that nobody finished stays. */
export const KEEP_EXPIRED_MS = 24 * 3_600_000;

/** A connection of a member who left, with what its provider can still be told to end. */
export interface EndedConnection extends Pick<ConnectionRecord, "connectionId" | "serverId" | "authorization"> {
  sealed: string | undefined;
}

/**
 * A member leaves: their connections are revoked, their secrets deleted, and everything read through them is hidden and
 * purged. Source: S13.
 *
 * @returns which they were
 */
export async function endConnectionsOf(
  sql: SqlHandles,
  { workspaceId, userId, at }: { workspaceId: string; userId: string; at: number },
): Promise<EndedConnection[]> {
  const store = makeConnectionStore(sql, workspaceId);
  const queue = makeQueueStore(sql);
  const { setMembers } = makeAccessStore(sql, workspaceId);
  const ended: EndedConnection[] = [];
  for (const { connectionId, serverId, authorization } of await store.list({ ownerUserId: userId })) {
    const sealed = (await store.findSecret(connectionId))?.sealed;
    ended.push({ connectionId, serverId, authorization, sealed });
    await store.dropSecret(connectionId);
    await store.dropFlows(connectionId);
    await store.update(connectionId, { ...REVOKED, statusReason: "member_left", pendingUntil: at + KEEP_REVOKED_MS });
    await setMembers(connectionPrincipal(connectionId), [], "kb");
    const gone = await sql.write
      .updateTable("connectors")
      .set({ state: "deleting", stateReason: null, nextRunAt: null })
      .where("workspaceId", "=", workspaceId)
      .where("connectionId", "=", connectionId)
      .where("state", "!=", "deleting")
      .returning("connectorId")
      .execute();
    for (const { connectorId } of gone) {
      const dedupeKey = `purge:${connectorId}`;
      await queue.enqueue({
        workspaceId,
        type: "purge_connector",
        dedupeKey,
        payload: { connectorId },
        priority: 30,
        runAt: at,
      });
    }
  }
  return ended;
}

/** Whom a connection is for, and what signs it. */
export type ConnectionReaders = Pick<ConnectionRecord, "ownerUserId" | "way" | "visibility" | "memberIds" | "groupIds">;

/**
 * Whether a connection signs requests while its owner has this role: the server's own secret is for admins to use.
 * Source: S64.
 */
export function maySign({ way }: Pick<ConnectionRecord, "way">, ownerRole: Role | undefined): boolean {
  return way !== "server" || (ownerRole !== undefined && ownerRole !== "member");
}

/** Who sees what a connection reads: whom it is shared with, and its owner while it may sign. */
export function readersOfConnection(connection: ConnectionReaders, ownerRole: Role | undefined): Principal[] {
  const { ownerUserId, visibility, memberIds, groupIds } = connection;
  if (visibility === "workspace") return ["workspace"];
  const owner = `user:${ownerUserId}`;
  const shared =
    visibility === "private" ? [] : [...memberIds.map((id) => `user:${id}`), ...groupIds.map((id) => `group:${id}`)];
  return maySign(connection, ownerRole) ? [owner, ...shared] : shared.filter((principal) => principal !== owner);
}

/**
 * Gives or takes what a person reads through connections by a server's own secret, as their role says now. Everything stays
 * as it is for whom they shared it with; connectors on them that a schedule runs are due at once.
 *
 * @returns how many connections they have
 */
export async function fillServerConnectionsOf(
  sql: SqlHandles,
  { workspaceId, userId, at }: { workspaceId: string; userId: string; at: number },
  role: Role,
): Promise<number> {
  const { setMembers } = makeAccessStore(sql, workspaceId);
  const own = await makeConnectionStore(sql, workspaceId).list({ ownerUserId: userId });
  const signed = own.filter(({ way, status }) => way === "server" && status === "active");
  for (const connection of signed) {
    const { connectionId } = connection;
    await setMembers(connectionPrincipal(connectionId), readersOfConnection(connection, role), "kb");
    await sql.write
      .updateTable("connectors")
      .set({ nextRunAt: at })
      .where("workspaceId", "=", workspaceId)
      .where("connectionId", "=", connectionId)
      .where("everyMinutes", "is not", null)
      .where("state", "in", ["active", "error"])
      .execute();
  }
  return signed.length;
}

/** What of a connection stays when it is revoked. */
export const REVOKED = {
  status: "revoked",
  visibility: "private",
  memberIds: [],
  groupIds: [],
} as const satisfies ConnectionPatch;

/** How long the record of a revoked connection says who had it. */
export const KEEP_REVOKED_MS = 7 * 24 * 3_600_000;

function toRow({ memberIds, groupIds, scopes, authorization, agreed, ...rest }: ConnectionPatch) {
  return {
    ...rest,
    ...(agreed !== undefined && { agreed: agreed === null ? null : JSON.stringify(agreed) }),
    ...(memberIds !== undefined && { memberIds: JSON.stringify(memberIds) }),
    ...(groupIds !== undefined && { groupIds: JSON.stringify(groupIds) }),
    ...(scopes !== undefined && { scopes: JSON.stringify(scopes) }),
    ...(authorization !== undefined && {
      authorization: authorization === null ? null : JSON.stringify(authorization),
    }),
  };
}

function toRecord({ workspaceId: _workspaceId, ...row }: Selectable<ConnectionsTable>): ConnectionRecord {
  return {
    ...row,
    // All of these are written from these types only.
    way: row.way as ConnectionWay,
    status: row.status as ConnectionStatus,
    visibility: row.visibility as ConnectionRecord["visibility"],
    memberIds: JSON.parse(row.memberIds) as string[],
    groupIds: JSON.parse(row.groupIds) as string[],
    scopes: JSON.parse(row.scopes) as string[],
    authorization: row.authorization === null ? null : (JSON.parse(row.authorization) as ConnectionAuthorization),
    agreed: row.agreed === null ? null : (JSON.parse(row.agreed) as unknown),
  };
}
