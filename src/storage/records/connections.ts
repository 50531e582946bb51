import type { Role } from "#api/common.ts";
import type { Principal } from "#core/principals.ts";
import { connectionPrincipal } from "#storage/access/item-clocks.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces, inWorkspace } from "#storage/in-workspace.ts";
import { recordsOf } from "#storage/results.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";
import { CONNECTION_SECRETS, CONNECTIONS } from "#storage/tables/servers.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { endFlows } from "./accounts.ts";
import { makeAccessStore } from "./access.ts";
import { makeQueueStore } from "./queue.ts";
import { makeTokenLock, UNLOCKED } from "./token-lock.ts";
import type { Whose } from "./whose.ts";

export type { ConnectionAuthorization } from "#storage/tables/servers.ts";

/** A person's connection to an app of a server. Instants are epoch milliseconds. */
export type ConnectionRecord = RecordOf<typeof CONNECTIONS>;
export type ConnectionWay = ConnectionRecord["way"];

export type ConnectionPatch = Partial<
  Omit<ConnectionRecord, "connectionId" | "serverId" | "ownerUserId" | "app" | "createdAt">
>;

/** The secret with which a connection signs requests, as stored. */
export type ConnectionSecret = RecordOf<typeof CONNECTION_SECRETS>;

/** Reads and writes people's connections in one workspace. */
export function makeConnectionStore(sql: SqlHandles, workspaceId: string) {
  const connections = inWorkspace(sql, workspaceId, CONNECTIONS);
  const secrets = inWorkspace(sql, workspaceId, CONNECTION_SECRETS);
  return {
    ...makeTokenLock(sql, workspaceId, CONNECTION_SECRETS, (connectionId) => ({ connectionId })),

    /** Returns a connection, also one that has ended. */
    find: (connectionId: string) => connections.find({ connectionId }),

    /** Returns the connections of a server, or all, without revoked ones. Oldest first. */
    list: (which: { serverId?: string; ownerUserId?: string } = {}) =>
      recordsOf(
        CONNECTIONS,
        connections
          .select(which)
          .selectAll()
          .where("status", "!=", "revoked")
          .orderBy("createdAt")
          .orderBy("connectionId"),
      ),

    insert: connections.insert,

    update: (connectionId: string, patch: ConnectionPatch) => connections.update({ connectionId }, patch),

    remove: (connectionId: string) => connections.remove({ connectionId }),

    findSecret: (connectionId: string) => secrets.find({ connectionId }),

    /** Replaces the secret and releases its lock. */
    async putSecret(connectionId: string, { sealed, expiresAt }: Omit<ConnectionSecret, "version">): Promise<void> {
      const fresh = { sealed, expiresAt, ...UNLOCKED };
      await secrets
        .inserting({ connectionId, version: 1, ...fresh })
        .onConflict((oc) =>
          oc
            .columns(["workspaceId", "connectionId"])
            .doUpdateSet((eb) => ({ ...fresh, version: eb("connection_secrets.version", "+", 1) })),
        )
        .execute();
    },

    dropSecret: (connectionId: string) => secrets.remove({ connectionId }),

    /** Ends redirects to the connection's provider, with any account that was found; see `endFlows`. */
    dropFlows: (connectionId: string) => endFlows(sql, { workspaceId, providerId: connectionId }),
  };
}

/** Reads and writes unfinished connections, across workspaces. */
// Raw: across workspaces.
export function makeConnectionLookup(sql: SqlHandles) {
  const connections = acrossWorkspaces(sql, CONNECTIONS);
  return {
    /**
     * Marks unfinished connections whose time is up as expired. Deletes their records a day later, and those of revoked
     * connections after a while.
     */
    async expire(now: number): Promise<void> {
      const due = connections.select().select("connectionId").where("pendingUntil", "<=", now).limit(1);
      if ((await due.execute()).length === 0) return;
      await connections
        .deleting()
        .where("pendingUntil", "<=", now)
        .where("status", "in", ["expired", "failed", "revoked"])
        .execute();
      await connections
        .updating({ status: "pending" })
        .set({ status: "expired", pendingUntil: now + KEEP_EXPIRED_MS })
        .where("pendingUntil", "<=", now)
        .execute();
    },
  };
}

/** How long the record of an unfinished connection is kept. */
export const KEEP_EXPIRED_MS = 24 * 3_600_000;

/** A connection of a member who left, with the tokens that can still be revoked at its provider. */
export interface EndedConnection extends Pick<ConnectionRecord, "connectionId" | "serverId" | "authorization"> {
  sealed: string | undefined;
}

/**
 * Ends the connections of a member who leaves: they are revoked, their secrets are deleted, and everything that was
 * read through them is hidden and purged. Source: S13.
 *
 * @returns the connections that were ended
 */
export async function endConnectionsOf(
  sql: SqlHandles,
  { workspaceId, userId, at }: Whose,
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
    const gone = await inWorkspace(sql, workspaceId, CONNECTORS)
      .updating({ connectionId })
      .set({ state: "deleting", stateReason: null, nextRunAt: null })
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

/** The fields of a connection that determine its readers and how it signs. */
export type ConnectionReaders = Pick<ConnectionRecord, "ownerUserId" | "way" | "visibility" | "memberIds" | "groupIds">;

/**
 * Whether a connection signs requests while its owner has this role. Only admins may use the server's own secret.
 * Source: S64.
 */
export function maySign({ way }: Pick<ConnectionRecord, "way">, ownerRole: Role | undefined): boolean {
  return way !== "server" || (ownerRole !== undefined && ownerRole !== "member");
}

/**
 * Returns the readers of a connection's items: the people with whom it is shared, and its owner while the connection
 * may sign.
 */
export function readersOfConnection(connection: ConnectionReaders, ownerRole: Role | undefined): Principal[] {
  const { ownerUserId, visibility, memberIds, groupIds } = connection;
  if (visibility === "workspace") return ["workspace"];
  const owner = `user:${ownerUserId}`;
  const shared =
    visibility === "private" ? [] : [...memberIds.map((id) => `user:${id}`), ...groupIds.map((id) => `group:${id}`)];
  return maySign(connection, ownerRole) ? [owner, ...shared] : shared.filter((principal) => principal !== owner);
}

/**
 * Grants or withdraws the owner's access to the items that were read through connections with a server's own secret,
 * according to the owner's current role. People with whom the connections are shared keep their access. Scheduled
 * connectors on them become due at once.
 *
 * @returns how many such connections the person has
 */
export async function fillServerConnectionsOf(
  sql: SqlHandles,
  { workspaceId, userId, at }: Whose,
  role: Role,
): Promise<number> {
  const { setMembers } = makeAccessStore(sql, workspaceId);
  const own = await makeConnectionStore(sql, workspaceId).list({ ownerUserId: userId });
  const signed = own.filter(({ way, status }) => way === "server" && status === "active");
  for (const connection of signed) {
    const { connectionId } = connection;
    await setMembers(connectionPrincipal(connectionId), readersOfConnection(connection, role), "kb");
    await inWorkspace(sql, workspaceId, CONNECTORS)
      .updating({ connectionId })
      .set({ nextRunAt: at })
      .where("everyMinutes", "is not", null)
      .where("state", "in", ["active", "error"])
      .execute();
  }
  return signed.length;
}

/** The column values of a revoked connection. */
export const REVOKED = {
  status: "revoked",
  visibility: "private",
  memberIds: [],
  groupIds: [],
} as const satisfies ConnectionPatch;

/** How long the record of a revoked connection keeps its owner. */
export const KEEP_REVOKED_MS = 7 * 24 * 3_600_000;
