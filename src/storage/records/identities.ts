import { sql as rawSql } from "kysely";
import { ApiError } from "#api/errors.ts";
import { instanceOf, type Principal } from "#core/principals.ts";
import type { EndedJoin, IdentityState } from "#storage/batch/people-batch.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { makeAccessStore } from "./access.ts";

/** What makes a user of a source a member: an account of theirs, an address verified at both ends, or somebody's word. */
export type JoinBasis = "account" | "email" | "admin";

/** A user of a source who is or was a member here. It holds for the whole instance. */
export interface IdentityJoin {
  principal: Principal;
  userId: string;
  /** The connector that told of the user; with the basis `account` the account. */
  connectorId: string;
  basis: JoinBasis;
  /** Who tied them; null = nobody by hand. */
  joinedBy: string | null;
  joinedAt: number;
  endedAt: number | null;
  endedBy: string | null;
  endReason: EndedJoin["reason"] | null;
}

/** A user of a source as a connector tells of them. */
export interface IdentityRecord {
  principal: Principal;
  state: IdentityState;
  name: string | null;
  login: string | null;
  email: string | null;
  isEmailVerified: boolean;
  /** Another id of this user. */
  aliasOf: Principal | null;
  toldAt: number;
  /** Who they are here; null = nobody. */
  userId: string | null;
  basis: JoinBasis | null;
}

export interface EmailMatch {
  principal: Principal;
  userId: string;
}

/** Users of sources, and which of them are members here. */
export function makeIdentityStore(sql: SqlHandles, workspaceId: string) {
  const { raiseEpoch } = makeAccessStore(sql, workspaceId);
  const joins = () =>
    sql.read
      .selectFrom("identity_joins")
      .select([
        "principal",
        "userId",
        "connectorId",
        "basis",
        "joinedBy",
        "joinedAt",
        "endedAt",
        "endedBy",
        "endReason",
      ])
      .where("workspaceId", "=", workspaceId);

  const store = {
    /** What a connector tells of its users, by principal; with `isJoined` only those who are members here, or are not. */
    async list(
      connectorId: string,
      {
        limit,
        after,
        offset,
        only,
        isJoined,
      }: { limit: number; after?: Principal; offset?: number; only?: Principal; isJoined?: boolean },
    ): Promise<IdentityRecord[]> {
      let query = sql.read
        .selectFrom("identities as i")
        .leftJoin("identity_joins as j", (on) =>
          on
            .onRef("j.workspaceId", "=", "i.workspaceId")
            .onRef("j.principal", "=", "i.principal")
            .on("j.endedAt", "is", null),
        )
        .select([
          "i.principal",
          "i.state",
          "i.name",
          "i.login",
          "i.email",
          "i.isEmailVerified",
          "i.aliasOf",
          "i.toldAt",
        ])
        .select(["j.userId", "j.basis"])
        .where("i.workspaceId", "=", workspaceId)
        .where("i.connectorId", "=", connectorId);
      if (after !== undefined) query = query.where("i.principal", ">", after);
      if (only !== undefined) query = query.where("i.principal", "=", only);
      if (offset !== undefined) query = query.offset(offset);
      if (isJoined !== undefined) query = query.where("j.userId", isJoined ? "is not" : "is", null);
      const rows = await query.orderBy("i.principal").limit(limit).execute();
      return rows.map((row) => ({
        ...row,
        // Both are written from these unions only.
        state: row.state as IdentityState,
        basis: row.basis as JoinBasis | null,
        isEmailVerified: row.isEmailVerified === 1,
      }));
    },

    /** Of these users, what a connector tells of them, by principal. */
    async listNamed(connectorId: string, named: readonly Principal[]): Promise<IdentityRecord[]> {
      const found: IdentityRecord[] = [];
      for (const principal of [...named].sort()) {
        found.push(...(await store.list(connectorId, { limit: 1, only: principal })));
      }
      return found;
    },

    /** Users of an instance who are members here; `instance` is what their principals begin with. */
    async listJoinedOf(instance: string): Promise<Principal[]> {
      const rows = await sql.read
        .selectFrom("identity_joins")
        .select("principal")
        .where("workspaceId", "=", workspaceId)
        .where("endedAt", "is", null)
        .where("principal", ">=", instance)
        .where("principal", "<", `${instance}\u{10ffff}`)
        .execute();
      return rows.map((row) => row.principal);
    },

    /** What a connector tells of one of its users. */
    async find(
      connectorId: string,
      principal: Principal,
    ): Promise<{ state: IdentityState; name: string | null } | undefined> {
      const row = await sql.read
        .selectFrom("identities")
        .select(["state", "name"])
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", connectorId)
        .where("principal", "=", principal)
        .executeTakeFirst();
      // Written by the batch procedure from the same union.
      return row && { ...row, state: row.state as IdentityState };
    },

    /** Which connectors tell of a user, and what. */
    async tellersOf(
      principal: Principal,
    ): Promise<{ connectorId: string; state: IdentityState; isTrusted: boolean }[]> {
      const rows = await sql.read
        .selectFrom("identities")
        .select(["connectorId", "state", "isTrusted"])
        .where("workspaceId", "=", workspaceId)
        .where("principal", "=", principal)
        .execute();
      // Written by the batch procedure from the same union.
      return rows.map((row) => ({ ...row, state: row.state as IdentityState, isTrusted: row.isTrusted === 1 }));
    },

    /** Who a user of a source is and was here, the latest first. */
    async joinsOf(principal: Principal): Promise<IdentityJoin[]> {
      const rows = await joins().where("principal", "=", principal).orderBy("joinedAt", "desc").execute();
      return rows.map(toJoin);
    },

    /** Who a member is and was at sources, the latest first. */
    async joinsOfMember(userId: string): Promise<IdentityJoin[]> {
      const rows = await joins().where("userId", "=", userId).orderBy("joinedAt", "desc").execute();
      return rows.map(toJoin);
    },

    /**
     * Makes a user of a source a member, and raises the epoch. Call it in a transaction. It counts while a connector that may
     * say so tells of the user as active.
     *
     * @returns who they were until now, if somebody else
     * @throws ApiError `conflict` for a basis other than `admin` while they are somebody else
     */
    async join(
      join: Pick<IdentityJoin, "principal" | "userId" | "connectorId" | "basis" | "joinedBy" | "joinedAt">,
    ): Promise<EndedJoin | undefined> {
      const { principal, userId, joinedAt, joinedBy } = join;
      const [current] = await joins().where("principal", "=", principal).where("endedAt", "is", null).execute();
      if (current && current.userId !== userId && join.basis !== "admin") {
        throw new ApiError("conflict", { message: "This user of the source is another member already." });
      }
      const ended =
        current && current.userId !== userId
          ? await store.end(principal, { at: joinedAt, by: joinedBy, reason: "untied" })
          : undefined;
      const fresh = { endedAt: null, endedBy: null, endReason: null };
      await sql.write
        .insertInto("identity_joins")
        .values({ workspaceId, ...join, ...fresh, hasLeft: 0 })
        .onConflict((oc) => oc.columns(["workspaceId", "principal", "userId"]).doUpdateSet({ ...join, ...fresh }))
        .execute();
      await sql.write
        .insertInto("memberships")
        .values({ workspaceId, groupPrincipal: principal, memberPrincipal: `user:${userId}`, reportedBy: "kb" })
        .onConflict((oc) => oc.doNothing())
        .execute();
      await raiseEpoch();
      return ended;
    },

    /** Ends the join of a user of a source, if there is one, and raises the epoch. It is remembered. Call it in a transaction. */
    async end(
      principal: Principal,
      { at, by, reason }: { at: number; by: string | null; reason: EndedJoin["reason"] },
    ): Promise<EndedJoin | undefined> {
      const [ended] = await sql.write
        .updateTable("identity_joins")
        .set({ endedAt: at, endedBy: by, endReason: reason })
        .where("workspaceId", "=", workspaceId)
        .where("principal", "=", principal)
        .where("endedAt", "is", null)
        .returning("userId")
        .execute();
      if (!ended) return undefined;
      await sql.write
        .deleteFrom("memberships")
        .where("workspaceId", "=", workspaceId)
        .where("groupPrincipal", "=", principal)
        .where("memberPrincipal", "=", `user:${ended.userId}`)
        .where("reportedBy", "=", "kb")
        .execute();
      await raiseEpoch();
      return { principal, userId: ended.userId, reason };
    },

    /**
     * Notes that a member's own account there said at this instant who it is: for as long as that is believed, the user is
     * active, and a join by the account counts. Call it in a transaction.
     */
    async tellByAccount(
      told: Pick<IdentityRecord, "principal" | "name" | "login" | "toldAt"> & { accountId: string },
    ): Promise<void> {
      const { accountId, principal, ...said } = told;
      await sql.write
        .insertInto("identities")
        .values({
          workspaceId,
          principal,
          connectorId: accountId,
          toldIn: "account",
          instance: instanceOf(principal) ?? "",
          state: "active",
          email: null,
          emailKey: null,
          isEmailVerified: 0,
          isTrusted: 1,
          aliasOf: null,
          followsFeed: 0,
          seenBy: null,
          ...said,
        })
        .onConflict((oc) => oc.columns(["workspaceId", "principal", "connectorId"]).doUpdateSet(said))
        .execute();
    },

    /** Takes back what an account said. */
    async forgetByAccount(accountId: string): Promise<void> {
      await sql.write
        .deleteFrom("identities")
        .where("workspaceId", "=", workspaceId)
        .where("connectorId", "=", accountId)
        .execute();
    },

    /**
     * Whom a connector's users are by their addresses: verified at both ends and of one of these domains, held by a single
     * active user of the instance, who is nobody here. Never an address that a member had who left or has another one now,
     * nor a user of the source who once was somebody who left, nor who an admin has said they are not.
     *
     * @param domains  in lower case
     */
    async matchEmails(connectorId: string, domains: readonly string[], limit: number): Promise<EmailMatch[]> {
      if (domains.length === 0) return [];
      const rows = await sql.read
        .selectFrom("identities as i")
        .innerJoin("users as u", "u.emailKey", "i.emailKey")
        .innerJoin("members as m", (on) =>
          on.onRef("m.userId", "=", "u.userId").onRef("m.workspaceId", "=", "i.workspaceId"),
        )
        .select(["i.principal", "u.userId"])
        .where("i.workspaceId", "=", workspaceId)
        .where("i.connectorId", "=", connectorId)
        .where("i.state", "=", "active")
        .where("i.isTrusted", "=", 1)
        .where("i.isEmailVerified", "=", 1)
        .where("i.aliasOf", "is", null)
        .where("u.emailVerifiedAt", "is not", null)
        .where(rawSql<string>`substr(i."emailKey", instr(i."emailKey", '@') + 1)`, "in", domains)
        .where(({ not, exists, selectFrom, ref, or, and, eb }) =>
          and([
            not(
              exists(
                selectFrom("identity_joins as j")
                  .select("j.userId")
                  .whereRef("j.workspaceId", "=", ref("i.workspaceId"))
                  .whereRef("j.principal", "=", ref("i.principal"))
                  .where((on) =>
                    on.or([
                      on("j.endedAt", "is", null),
                      on("j.hasLeft", "=", 1),
                      // Somebody has said by hand that they are not.
                      on.and([eb(on.ref("j.userId"), "=", on.ref("u.userId")), on("j.endedBy", "is not", null)]),
                    ]),
                  ),
              ),
            ),
            not(
              exists(
                selectFrom("former_addresses as f")
                  .select("f.userId")
                  .whereRef("f.workspaceId", "=", ref("i.workspaceId"))
                  .whereRef("f.emailKey", "=", ref("i.emailKey"))
                  .where((on) => or([on("f.hasLeft", "=", 1), eb(on.ref("f.userId"), "!=", on.ref("u.userId"))])),
              ),
            ),
            // A source that tells of another holder: of two holders neither is known to be the one.
            not(
              exists(
                selectFrom("identities as o")
                  .select("o.principal")
                  .whereRef("o.workspaceId", "=", ref("i.workspaceId"))
                  .whereRef("o.emailKey", "=", ref("i.emailKey"))
                  .whereRef("o.instance", "=", ref("i.instance"))
                  .whereRef("o.principal", "!=", ref("i.principal"))
                  .where("o.state", "=", "active")
                  .where("o.isTrusted", "=", 1)
                  .where((on) => on.or([on("o.aliasOf", "is", null), on("o.aliasOf", "!=", on.ref("i.principal"))])),
              ),
            ),
            not(
              exists(
                selectFrom("identities as s")
                  .select("s.principal")
                  .whereRef("s.workspaceId", "=", ref("i.workspaceId"))
                  .whereRef("s.principal", "=", ref("i.principal"))
                  .where("s.isTrusted", "=", 1)
                  .where("s.state", "!=", "active"),
              ),
            ),
          ]),
        )
        .orderBy("i.principal")
        .limit(limit)
        .execute();
      return rows;
    },
  };
  return store;
}

/** A member leaves: who they were at sources ends, and never comes back by email, for them or anybody else. */
export async function endJoinsOf(
  sql: SqlHandles,
  { workspaceId, userId, at }: { workspaceId: string; userId: string; at: number },
): Promise<void> {
  // By principal: asked for the user alone, SQLite walks all joins of the workspace to update these.
  const of = () =>
    sql.write
      .updateTable("identity_joins")
      .where("workspaceId", "=", workspaceId)
      .where("principal", "in", ({ selectFrom }) =>
        selectFrom("identity_joins as j")
          .select("j.principal")
          .where("j.workspaceId", "=", workspaceId)
          .where("j.userId", "=", userId),
      )
      .where("userId", "=", userId);
  await of().set({ endedAt: at, endReason: "left" }).where("endedAt", "is", null).execute();
  await of().set({ hasLeft: 1 }).execute();
}

function toJoin(row: {
  principal: string;
  userId: string;
  connectorId: string;
  basis: string;
  joinedBy: string | null;
  joinedAt: number;
  endedAt: number | null;
  endedBy: string | null;
  endReason: string | null;
}): IdentityJoin {
  // Both are written from these unions only.
  return { ...row, basis: row.basis as JoinBasis, endReason: row.endReason as IdentityJoin["endReason"] };
}
