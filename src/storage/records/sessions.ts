import type { Selectable } from "kysely";
import { Role } from "#api/common.ts";
import type { SessionRecordRow, SessionStore } from "#storage/records-types/sessions.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { SessionsTable } from "#storage/schema.ts";
import { toColumn, toDate, toDateOrNull } from "#storage/times.ts";

/** Web sessions; each is bound to one workspace. */
export function makeSessionStore(sql: SqlHandles): SessionStore {
  return {
    async insert(session) {
      await sql.write
        .insertInto("sessions")
        .values({
          ...session,
          createdAt: session.createdAt.getTime(),
          authenticatedAt: session.authenticatedAt.getTime(),
          lastSeenAt: session.lastSeenAt.getTime(),
          expiresAt: session.expiresAt.getTime(),
          revokedAt: toColumn(session.revokedAt),
        })
        .execute();
    },

    async findByHash(tokenHash) {
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

    async find(sessionId) {
      const row = await sql.read
        .selectFrom("sessions")
        .selectAll()
        .where("sessionId", "=", sessionId)
        .executeTakeFirst();
      return row && toSession(row);
    },

    async list({ userId, workspaceId, now, idleMs, limit, after }) {
      let query = sql.read
        .selectFrom("sessions")
        .selectAll()
        .where("userId", "=", userId)
        .where("workspaceId", "=", workspaceId)
        .where("revokedAt", "is", null)
        .where("expiresAt", ">", now.getTime())
        .where("lastSeenAt", ">", now.getTime() - idleMs);
      if (after) {
        query = query.where((eb) =>
          eb.or([eb("createdAt", "<", after.value), eb("createdAt", "=", after.value).and("sessionId", "<", after.id)]),
        );
      }
      const rows = await query.orderBy("createdAt", "desc").orderBy("sessionId", "desc").limit(limit).execute();
      return rows.map(toSession);
    },

    async touch(sessionId, at) {
      await sql.write
        .updateTable("sessions")
        .set({ lastSeenAt: at.getTime() })
        .where("sessionId", "=", sessionId)
        .execute();
    },

    async revoke(sessionId, at) {
      await sql.write
        .updateTable("sessions")
        .set({ revokedAt: at.getTime() })
        .where("sessionId", "=", sessionId)
        .where("revokedAt", "is", null)
        .execute();
    },

    async sweep(endedBefore, idleSince) {
      const before = endedBefore.getTime();
      await sql.write
        .deleteFrom("sessions")
        .where((eb) =>
          eb.or([
            eb("revokedAt", "<", before),
            eb("expiresAt", "<", before),
            eb("lastSeenAt", "<", idleSince.getTime()),
          ]),
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
    createdAt: toDate(row.createdAt),
    authenticatedAt: toDate(row.authenticatedAt),
    lastSeenAt: toDate(row.lastSeenAt),
    expiresAt: toDate(row.expiresAt),
    revokedAt: toDateOrNull(row.revokedAt),
    userAgent: row.userAgent,
    ip: row.ip,
  };
}
