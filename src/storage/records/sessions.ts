import { Role } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { SESSIONS } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { pageOf, type PageRequest } from "./pages.ts";

/** Instants are epoch milliseconds. */
export type SessionRecordRow = RecordOf<typeof SESSIONS>;

/** A credential with its person's current membership. */
export interface WithMembership {
  role: Role;
  /** The person's zone, else the workspace's. */
  timeZone: string;
}

/** Web sessions; each is bound to one workspace. */
// Raw: found by its hash or id, before its workspace is known.
export function makeSessionStore(sql: SqlHandles) {
  return {
    async insert(session: SessionRecordRow & { tokenHash: string }): Promise<void> {
      await sql.write.insertInto("sessions").values(session).execute();
    },

    /** By the SHA-256 of the secret; undefined when its person isn't a member of its workspace any more. */
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
      return row && { ...SESSIONS.read(row), role: Role.parse(row.role), timeZone: row.ownZone ?? row.workspaceZone };
    },

    async find(sessionId: string): Promise<SessionRecordRow | undefined> {
      const row = await sql.read
        .selectFrom("sessions")
        .selectAll()
        .where("sessionId", "=", sessionId)
        .executeTakeFirst();
      return row && SESSIONS.read(row);
    },

    /** Live ones of a person in a workspace, by (createdAt, sessionId) descending. */
    async list({
      userId,
      workspaceId,
      now,
      idleMs,
      ...page
    }: PageRequest & {
      userId: string;
      workspaceId: string;
      now: number;
      idleMs: number;
    }): Promise<SessionRecordRow[]> {
      const query = sql.read
        .selectFrom("sessions")
        .selectAll()
        .where("userId", "=", userId)
        .where("workspaceId", "=", workspaceId)
        .where("revokedAt", "is", null)
        .where("expiresAt", ">", now)
        .where("lastSeenAt", ">", now - idleMs);
      return (await pageOf(query, ["createdAt", "sessionId"], "desc", page).execute()).map(SESSIONS.read);
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

    /** Deletes those that expired or were revoked before this moment, or were last used before `idleSince`. */
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

/** Ends the living sessions of a person in one workspace, `except` one. @returns how many */
export async function endSessionsOf(
  sql: SqlHandles,
  whose: { workspaceId: string; userId: string; at: number; except?: string | undefined },
): Promise<number> {
  const { workspaceId, userId, at, except } = whose;
  const query = inWorkspace(sql, workspaceId, SESSIONS).updating({ userId, revokedAt: null }).set({ revokedAt: at });
  const ended = except === undefined ? query : query.where("sessionId", "!=", except);
  return Number((await ended.executeTakeFirst()).numUpdatedRows);
}
