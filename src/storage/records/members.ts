import { existing } from "#api/errors.ts";
import type { Role } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { countOf, readInChunks } from "#storage/results.ts";
import { MEMBERS } from "#storage/tables/people.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { makeAccessStore } from "./access.ts";
import { fillServerConnectionsOf } from "./connections.ts";
import { endGrantsOf } from "./grants.ts";
import { pageOf, type PageRequest } from "./pages.ts";
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

/** Reads and writes the members of one workspace. */
export function makeMemberStore(sql: SqlHandles, workspaceId: string) {
  const { raiseEpoch } = makeAccessStore(sql, workspaceId);
  const members = inWorkspace(sql, workspaceId, MEMBERS);
  const joined = () =>
    members
      .select()
      .innerJoin("users", "users.userId", "members.userId")
      .select(["members.userId", "users.name", "users.email", "members.role", "members.joinedAt"]);

  async function roleOf(userId: string): Promise<Role> {
    return existing(await members.find({ userId })).role;
  }

  return {
    find: (userId: string): Promise<MemberRecord | undefined> =>
      joined().where("members.userId", "=", userId).executeTakeFirst(),

    /** Returns members by (joinedAt, userId). */
    list: (page: PageRequest): Promise<MemberRecord[]> =>
      pageOf(joined(), ["members.joinedAt", "members.userId"], "asc", page).execute(),

    /** Returns those of these users who are members. */
    async whichOf(userIds: readonly string[]): Promise<Set<string>> {
      const rows = await readInChunks(userIds, (chunk) =>
        members.select().select("userId").where("userId", "in", chunk).execute(),
      );
      return new Set(rows.map((row) => row.userId));
    },

    countOwners: (): Promise<number> => countOf(members.select({ role: "owner" })),

    /** Adds a member and raises the access epoch. */
    async insert(member: RecordOf<typeof MEMBERS>): Promise<void> {
      await members.insert(member);
      await raiseEpoch();
    },

    /**
     * Changes the role, ends everything that a lower role ends, and raises the access epoch. Work that waited for the
     * role resumes.
     *
     * @returns what ended; undefined when the role rose
     */
    async setRole(userId: string, role: Role, at: number): Promise<FallOutcome | undefined> {
      const before = await roleOf(userId);
      await members.update({ userId }, { role });
      const whose = { workspaceId, userId, at };
      const outcome = isFall(before, role) ? await endWhatFalls(sql, { ...whose, from: before, to: role }) : undefined;
      if (!outcome) await fillServerConnectionsOf(sql, whose, role);
      await raiseEpoch();
      return outcome;
    },

    /**
     * Ends the person's sessions, tokens and grants in this workspace, whether the person stays or leaves.
     *
     * @param keep  a session that stays, and whether tokens that were made in a session stay
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
     * Ends the membership and everything that depended on it: every row of `ROLE_FALL`. A person who comes back gets
     * none of it. The person's connectors that can't continue without them become `needs_owner`. Raises the access
     * epoch.
     * Source: S13.
     *
     * @returns what ended
     */
    async remove(userId: string, at: number): Promise<FallOutcome> {
      const from = await roleOf(userId);
      const outcome = await endWhatFalls(sql, { workspaceId, userId, from, to: null, at });
      await members.remove({ userId });
      await raiseEpoch();
      return outcome;
    },
  };
}
