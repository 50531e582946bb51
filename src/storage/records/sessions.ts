import { onSame } from "#storage/conditions.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces, inWorkspace } from "#storage/in-workspace.ts";
import { changesOf, recordsOf } from "#storage/results.ts";
import { SESSIONS } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { MEMBERS } from "#storage/tables/people.ts";
import { membershipIn, memberships, type WithMembership } from "./memberships.ts";
import { pageOf, type PageRequest } from "./pages.ts";
import type { Whose } from "./whose.ts";

/** Instants are epoch milliseconds. */
export type SessionRecordRow = RecordOf<typeof SESSIONS>;

/** Reads and writes web sessions. Each is bound to one workspace. */
// Raw: found by its hash or id, before its workspace is known.
export function makeSessionStore(sql: SqlHandles) {
  const sessions = acrossWorkspaces(sql, SESSIONS);
  return {
    insert: (session: SessionRecordRow & { tokenHash: string }) => sessions.insert(session),

    /**
     * Returns a session by the SHA-256 of its secret; undefined when its person is no longer a member of its workspace.
     */
    async findByHash(tokenHash: string): Promise<(SessionRecordRow & WithMembership) | undefined> {
      const row = await memberships(sql.read)
        .innerJoin("sessions", onSame(SESSIONS, MEMBERS, "userId"))
        .selectAll("sessions")
        .where("sessions.tokenHash", "=", tokenHash)
        .executeTakeFirst();
      return row && { ...SESSIONS.read(row), ...membershipIn(row) };
    },

    find: (sessionId: string) => sessions.find({ sessionId }),

    /** Returns live sessions of a person in a workspace, by (createdAt, sessionId) descending. */
    list({
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
      const live = sessions
        .select({ userId, workspaceId, revokedAt: null })
        .selectAll()
        .where("expiresAt", ">", now)
        .where("lastSeenAt", ">", now - idleMs);
      return recordsOf(SESSIONS, pageOf(live, ["createdAt", "sessionId"], "desc", page));
    },

    touch: (sessionId: string, at: number) => sessions.update({ sessionId }, { lastSeenAt: at }),

    revoke: (sessionId: string, at: number) => sessions.update({ sessionId, revokedAt: null }, { revokedAt: at }),

    /** Ends all sessions that haven't ended. */
    revokeAll: (at: number) => sessions.update({ revokedAt: null }, { revokedAt: at }),

    /** Deletes sessions that expired or were revoked before this time, or were last used before `idleSince`. */
    async sweep(endedBefore: number, idleSince: number): Promise<void> {
      const before = endedBefore;
      await sessions
        .deleting()
        .where((eb) =>
          eb.or([eb("revokedAt", "<", before), eb("expiresAt", "<", before), eb("lastSeenAt", "<", idleSince)]),
        )
        .execute();
    },
  };
}

/** Ends the living sessions of a person in one workspace, except the session `except`. @returns how many */
export async function endSessionsOf(
  sql: SqlHandles,
  { workspaceId, userId, at, except }: Whose & { except?: string | undefined },
): Promise<number> {
  const query = inWorkspace(sql, workspaceId, SESSIONS).updating({ userId, revokedAt: null }).set({ revokedAt: at });
  return changesOf(except === undefined ? query : query.where("sessionId", "!=", except));
}
