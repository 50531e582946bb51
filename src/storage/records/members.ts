import { sql as raw } from "kysely";
import { inChunks } from "#core/in-chunks.ts";
import { Role } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { makeAccessStore } from "./access.ts";
import { endAccountsOf } from "./accounts.ts";
import { type EndedConnection, endConnectionsOf } from "./connections.ts";
import { endGrantsOf } from "./grants.ts";
import { keepAddressOfLeft } from "./former-addresses.ts";
import { distrustConnectorsOf, type UntrustedJoin } from "./distrust.ts";
import { endJoinsOf } from "./identities.ts";
import { leaveConnectors } from "./left-connectors.ts";
import type { PageRequest } from "./people.ts";

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
     * Changes the role and raises the access epoch.
     *
     * @returns links that ended because somebody who is no admin can't tell who a member is
     */
    async setRole(userId: string, role: Role, at: number): Promise<UntrustedJoin[]> {
      await sql.write
        .updateTable("members")
        .set({ role })
        .where("workspaceId", "=", workspaceId)
        .where("userId", "=", userId)
        .execute();
      await raiseEpoch();
      return role !== "member" ? [] : distrustConnectorsOf(sql, { workspaceId, userId, at });
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
      await endSessions(sql, { workspaceId, userId, at, except: keep.sessionId });
      await endGrantsOf(sql, { workspaceId, userId }, at);
      if (keep.tokens !== true) await endTokens(sql, { workspaceId, userId, at });
    },

    /**
     * Ends the membership and everything that hung on it, so that coming back restores none of it: group memberships,
     * places in connectors' access, sessions, tokens, grants, connector keys and invitations they made, credentials
     * they gave to connectors, accounts, connections. Connectors of theirs that can't go on without are `needs_owner`. Raises the access
     * epoch. Source: S13.
     *
     * @returns the runs under way that were told to end, the links that ended with the trust in connectors of theirs, and
     *   the connections that are to be revoked at their providers
     */
    async remove(
      userId: string,
      at: number,
    ): Promise<{ stoppedSyncIds: string[]; endedJoins: UntrustedJoin[]; endedConnections: EndedConnection[] }> {
      const whose = { workspaceId, userId, at };
      await endSessions(sql, whose);
      await endGrantsOf(sql, { workspaceId, userId }, at);
      await endTokens(sql, whose);
      await endWhatTheyMade(sql, whose);
      await dropFromGroups(sql, workspaceId, `user:${userId}`);
      await endJoinsOf(sql, whose);
      await keepAddressOfLeft(sql, whose);
      await dropFromConnectors(sql, workspaceId, "memberIds", userId);
      await sql.write
        .updateTable("groups")
        .set({ ownerUserId: null })
        .where("workspaceId", "=", workspaceId)
        .where("ownerUserId", "=", userId)
        .execute();
      const endedJoins = await distrustConnectorsOf(sql, whose);
      const stoppedSyncIds = await leaveConnectors(sql, whose);
      await endAccountsOf(sql, whose);
      const endedConnections = await endConnectionsOf(sql, whose);
      await sql.write
        .deleteFrom("members")
        .where("workspaceId", "=", workspaceId)
        .where("userId", "=", userId)
        .execute();
      await raiseEpoch();
      return { stoppedSyncIds, endedJoins, endedConnections };
    },
  };
}

/** Takes a principal out of every group of the workspace, whichever connector reported it. */
export async function dropFromGroups(sql: SqlHandles, workspaceId: string, principal: string): Promise<void> {
  await sql.write
    .deleteFrom("memberships")
    .where("workspaceId", "=", workspaceId)
    .where("memberPrincipal", "=", principal)
    .execute();
}

/** Takes an id out of every list of whom a connector or connection is for, so that the id coming back opens nothing. */
export async function dropFromConnectors(
  sql: SqlHandles,
  workspaceId: string,
  column: "memberIds" | "groupIds",
  id: string,
): Promise<void> {
  await dropFromLists(sql, { table: "connectors", key: "connectorId", column }, workspaceId, id);
  await dropFromLists(sql, { table: "connections", key: "connectionId", column }, workspaceId, id);
}

interface Lists {
  table: "connectors" | "connections";
  key: "connectorId" | "connectionId";
  column: "memberIds" | "groupIds";
}

async function dropFromLists(
  sql: SqlHandles,
  { table, key, column }: Lists,
  workspaceId: string,
  id: string,
): Promise<void> {
  const { rows } = await raw<{ id: string; ids: string }>`
    select ${raw.ref(key)} as id, ${raw.ref(column)} as ids from ${raw.table(table)}
    where "workspaceId" = ${workspaceId} and ${raw.ref(column)} like ${`%"${id}"%`}`.execute(sql.write);
  for (const row of rows) {
    // Written by their stores as a JSON array of ids.
    const ids = (JSON.parse(row.ids) as string[]).filter((other) => other !== id);
    await raw`
      update ${raw.table(table)} set ${raw.ref(column)} = ${JSON.stringify(ids)}
      where "workspaceId" = ${workspaceId} and ${raw.ref(key)} = ${row.id}`.execute(sql.write);
  }
}

interface Whose {
  workspaceId: string;
  userId: string;
  at: number;
}

async function endSessions(sql: SqlHandles, whose: Whose & { except?: string | undefined }): Promise<void> {
  const { workspaceId, userId, at, except } = whose;
  let query = sql.write
    .updateTable("sessions")
    .set({ revokedAt: at })
    .where("workspaceId", "=", workspaceId)
    .where("userId", "=", userId)
    .where("revokedAt", "is", null);
  if (except !== undefined) query = query.where("sessionId", "!=", except);
  await query.execute();
}

async function endTokens(sql: SqlHandles, { workspaceId, userId, at }: Whose): Promise<void> {
  await sql.write
    .updateTable("api_tokens")
    .set({ revokedAt: at })
    .where("workspaceId", "=", workspaceId)
    .where("userId", "=", userId)
    .where("revokedAt", "is", null)
    .execute();
}

/** Connector keys and open invitations: they act for the person who made them. */
async function endWhatTheyMade(sql: SqlHandles, { workspaceId, userId, at }: Whose): Promise<void> {
  await sql.write
    .updateTable("connector_keys")
    .set({ revokedAt: at })
    .where("workspaceId", "=", workspaceId)
    .where("createdBy", "=", userId)
    .where("revokedAt", "is", null)
    .execute();
  await sql.write
    .updateTable("invitations")
    .set({ revokedAt: at })
    .where("workspaceId", "=", workspaceId)
    .where("invitedBy", "=", userId)
    .where("acceptedAt", "is", null)
    .where("revokedAt", "is", null)
    .execute();
}

function toMember(row: { userId: string; name: string; email: string; role: string; joinedAt: number }) {
  return { ...row, role: Role.parse(row.role) };
}
