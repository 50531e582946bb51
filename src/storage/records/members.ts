import { inChunks } from "#core/in-chunks.ts";
import { Role } from "#api/common.ts";
import { noSuchThing } from "#api/errors.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { makeAccessStore } from "./access.ts";
import { fillServerConnectionsOf } from "./connections.ts";
import { endGrantsOf } from "./grants.ts";
import type { PageRequest } from "./people.ts";
import { endWhatFalls, type FallOutcome, isFall } from "./role-fall.ts";
import { endSessionsOf } from "./sessions.ts";
import { endTokensOf } from "./tokens.ts";

/** Instants are epoch milliseconds. */
export interface MemberRecord {
  userId: string;
  name: string;
  email: string;
  role: Role;
  joinedAt: number;
}

/** Members of one workspace. */
export function makeMemberStore(sql: SqlHandles, workspaceId: string) {
  const { raiseEpoch } = makeAccessStore(sql, workspaceId);
  const joined = () =>
    sql.read
      .selectFrom("members")
      .innerJoin("users", "users.userId", "members.userId")
      .select(["members.userId", "users.name", "users.email", "members.role", "members.joinedAt"])
      .where("members.workspaceId", "=", workspaceId);

  const one = (userId: string) =>
    sql.write.updateTable("members").where("workspaceId", "=", workspaceId).where("userId", "=", userId);

  async function roleOf(userId: string): Promise<Role> {
    const row = await sql.write
      .selectFrom("members")
      .select("role")
      .where("workspaceId", "=", workspaceId)
      .where("userId", "=", userId)
      .executeTakeFirst();
    if (!row) throw noSuchThing();
    return Role.parse(row.role);
  }

  return {
    async find(userId: string): Promise<MemberRecord | undefined> {
      const row = await joined().where("members.userId", "=", userId).executeTakeFirst();
      return row && toMember(row);
    },

    /** By (joinedAt, userId). */
    async list({ limit, after }: PageRequest): Promise<MemberRecord[]> {
      let query = joined();
      if (after) {
        query = query.where((eb) =>
          eb.or([
            eb("members.joinedAt", ">", after.value),
            eb("members.joinedAt", "=", after.value).and("members.userId", ">", after.id),
          ]),
        );
      }
      const rows = await query.orderBy("members.joinedAt").orderBy("members.userId").limit(limit).execute();
      return rows.map(toMember);
    },

    /** Of these users, those who are members. */
    async whichOf(userIds: readonly string[]): Promise<Set<string>> {
      const found = new Set<string>();
      for (const chunk of inChunks(userIds, 500)) {
        const rows = await sql.read
          .selectFrom("members")
          .select("userId")
          .where("workspaceId", "=", workspaceId)
          .where("userId", "in", chunk)
          .execute();
        for (const row of rows) found.add(row.userId);
      }
      return found;
    },

    async countOwners(): Promise<number> {
      const { count } = await sql.read
        .selectFrom("members")
        .select((eb) => eb.fn.countAll().as("count"))
        .where("workspaceId", "=", workspaceId)
        .where("role", "=", "owner")
        .executeTakeFirstOrThrow();
      return Number(count);
    },

    /** Adds a member and raises the access epoch. */
    async insert({ userId, role, joinedAt }: { userId: string; role: Role; joinedAt: number }): Promise<void> {
      await sql.write.insertInto("members").values({ workspaceId, userId, role, joinedAt }).execute();
      await raiseEpoch();
    },

    /**
     * Changes the role, ends what a fall of it ends, and raises the access epoch. What waited for the role goes on with it.
     *
     * @returns what ended; undefined when the role rose
     */
    async setRole(userId: string, role: Role, at: number): Promise<FallOutcome | undefined> {
      const before = await roleOf(userId);
      await one(userId).set({ role }).execute();
      const whose = { workspaceId, userId, at };
      const outcome = isFall(before, role) ? await endWhatFalls(sql, { ...whose, from: before, to: role }) : undefined;
      if (!outcome) await fillServerConnectionsOf(sql, whose, role);
      await raiseEpoch();
      return outcome;
    },

    /**
     * Ends the person's sessions, tokens and grants here, whether they stay or go.
     *
     * @param keep  a session that stays, and whether the tokens made in a session stay
     */
    async endCredentials(
      userId: string,
      at: number,
      keep: { sessionId?: string; tokens?: boolean } = {},
    ): Promise<void> {
      await endSessionsOf(sql, { workspaceId, userId, at, except: keep.sessionId });
      await endGrantsOf(sql, { workspaceId, userId }, at);
      if (keep.tokens !== true) await endTokensOf(sql, { workspaceId, userId, at });
    },

    /**
     * Ends the membership and everything that hung on it, so that coming back restores none of it: every row of
     * `ROLE_FALL`. Connectors of theirs that can't go on without are `needs_owner`. Raises the access epoch. Source: S13.
     *
     * @returns what ended
     */
    async remove(userId: string, at: number): Promise<FallOutcome> {
      const from = await roleOf(userId);
      const outcome = await endWhatFalls(sql, { workspaceId, userId, from, to: null, at });
      await sql.write
        .deleteFrom("members")
        .where("workspaceId", "=", workspaceId)
        .where("userId", "=", userId)
        .execute();
      await raiseEpoch();
      return outcome;
    },
  };
}

function toMember(row: { userId: string; name: string; email: string; role: string; joinedAt: number }) {
  return { ...row, role: Role.parse(row.role) };
}
