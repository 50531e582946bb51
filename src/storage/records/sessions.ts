import type { Selectable } from "kysely";
import { Role } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { SessionsTable } from "#storage/schema.ts";

/** Instants are epoch milliseconds. */
export interface SessionRecordRow {
  sessionId: string;
  userId: string;
  workspaceId: string;
  createdAt: number;
  /** When the person last proved who they are; switching workspaces does not count. */
  authenticatedAt: number;
  lastSeenAt: number;
  /** The absolute end; the idle end follows from `lastSeenAt`. */
  expiresAt: number;
  revokedAt: number | null;
  userAgent: string | null;
  ip: string | null;
}

/** A credential together with what its person is today. */
export interface WithMembership {
  role: Role;
  /** The person's zone, else the workspace's. */
  timeZone: string;
}

/** Web sessions; each is bound to one workspace. */
export function makeSessionStore(sql: SqlHandles) {
  return {
    async insert(session: SessionRecordRow & { tokenHash: string }): Promise<void> {
      await sql.write
        .insertInto("sessions")
        .values({
          ...session,
          createdAt: session.createdAt,
          authenticatedAt: session.authenticatedAt,
          lastSeenAt: session.lastSeenAt,
          expiresAt: session.expiresAt,
          revokedAt: session.revokedAt,
        })
        .execute();
    },

    /** By the SHA-256 of the secret; undefined when its person is no member of its workspace any more. */
    async findByHash(tokenHash: string): Promise<(SessionRecordRow & WithMembership) | undefined> {
      const row = await sql.read
        .selectFrom("sessions")
        .innerJoin("members", (join) =>
          join
            .onRef("members.workspaceId", "=", "sessions.workspaceId")
            .onRef("members.userId", "=", "sessions.userId"),
        )
        .innerJoin("users", "users.userId", "sessions.userId")
        .innerJoin("workspaces", "workspaces.workspaceId", "sessions.workspaceId")
        .selectAll("sessions")
        .select(["members.role", "users.timeZone as ownZone", "workspaces.timeZone as workspaceZone"])
        .where("sessions.tokenHash", "=", tokenHash)
        .executeTakeFirst();
      return row && { ...toSession(row), role: Role.parse(row.role), timeZone: row.ownZone ?? row.workspaceZone };
    },

    async find(sessionId: string): Promise<SessionRecordRow | undefined> {
      const row = await sql.read
        .selectFrom("sessions")
        .selectAll()
        .where("sessionId", "=", sessionId)
        .executeTakeFirst();
      return row && toSession(row);
    },

    /** Live ones of a person in a workspace, by (createdAt, sessionId) descending. */
    async list({
      userId,
      workspaceId,
      now,
      idleMs,
      limit,
      after,
    }: {
      userId: string;
      workspaceId: string;
      now: number;
      idleMs: number;
      limit: number;
      after?: { value: number; id: string };
    }): Promise<SessionRecordRow[]> {
      let query = sql.read
        .selectFrom("sessions")
        .selectAll()
        .where("userId", "=", userId)
        .where("workspaceId", "=", workspaceId)
        .where("revokedAt", "is", null)
        .where("expiresAt", ">", now)
        .where("lastSeenAt", ">", now - idleMs);
      if (after) {
        query = query.where((eb) =>
          eb.or([eb("createdAt", "<", after.value), eb("createdAt", "=", after.value).and("sessionId", "<", after.id)]),
        );
      }
      const rows = await query.orderBy("createdAt", "desc").orderBy("sessionId", "desc").limit(limit).execute();
      return rows.map(toSession);
    },

    async touch(sessionId: string, at: number): Promise<void> {
      await sql.write.updateTable("sessions").set({ lastSeenAt: at }).where("sessionId", "=", sessionId).execute();
    },

    async revoke(sessionId: string, at: number): Promise<void> {
      await sql.write
        .updateTable("sessions")
        .set({ revokedAt: at })
        .where("sessionId", "=", sessionId)
        .where("revokedAt", "is", null)
        .execute();
    },

    /** Ends all that haven't ended. */
    async revokeAll(at: number): Promise<void> {
      await sql.write.updateTable("sessions").set({ revokedAt: at }).where("revokedAt", "is", null).execute();
    },

    /**
     * Deletes those that ended before this moment, by themselves or by somebody, or were last used before `idleSince`.
     */
    async sweep(endedBefore: number, idleSince: number): Promise<void> {
      const before = endedBefore;
      await sql.write
        .deleteFrom("sessions")
        .where((eb) =>
          eb.or([eb("revokedAt", "<", before), eb("expiresAt", "<", before), eb("lastSeenAt", "<", idleSince)]),
        )
        .execute();
    },
  };
}

function toSession(row: Selectable<SessionsTable>): SessionRecordRow {
  return {
    sessionId: row.sessionId,
    userId: row.userId,
    workspaceId: row.workspaceId,
    createdAt: row.createdAt,
    authenticatedAt: row.authenticatedAt,
    lastSeenAt: row.lastSeenAt,
    expiresAt: row.expiresAt,
    revokedAt: row.revokedAt,
    userAgent: row.userAgent,
    ip: row.ip,
  };
}

/** Ends the living sessions of a person in one workspace, `except` one. @returns how many */
export async function endSessionsOf(
  sql: SqlHandles,
  whose: { workspaceId: string; userId: string; at: number; except?: string | undefined },
): Promise<number> {
  const { workspaceId, userId, at, except } = whose;
  let query = sql.write
    .updateTable("sessions")
    .set({ revokedAt: at })
    .where("workspaceId", "=", workspaceId)
    .where("userId", "=", userId)
    .where("revokedAt", "is", null);
  if (except !== undefined) query = query.where("sessionId", "!=", except);
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}
