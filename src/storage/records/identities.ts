import { sql as rawSql } from "kysely";
import { ApiError } from "#api/errors.ts";
import { instanceOf, type Principal } from "#core/principals.ts";
import type { EndedJoin, IdentityState } from "#storage/people-batch.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { makeAccessStore } from "./access.ts";
import { same } from "#storage/conditions.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { recordsOf } from "#storage/results.ts";
import { FORMER_ADDRESSES, IDENTITIES, IDENTITY_JOINS } from "#storage/tables/identities.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import type { Whose } from "./whose.ts";
import { MEMBERSHIPS } from "#storage/tables/access.ts";

/** A link between a user of a source and someone who is or was a member. It applies to the whole instance. */
export type IdentityJoin = RecordOf<typeof IDENTITY_JOINS>;

/** A user of a source as a connector reports them. */
export interface IdentityRecord extends Pick<
  RecordOf<typeof IDENTITIES>,
  "principal" | "state" | "name" | "login" | "email" | "isEmailVerified" | "aliasOf" | "toldAt"
> {
  /** The member to whom the user is joined; null = none. */
  userId: string | null;
  basis: IdentityJoin["basis"] | null;
}

export interface EmailMatch {
  principal: Principal;
  userId: string;
}

/** Reads and writes users of sources, and their links to members. */
export function makeIdentityStore(sql: SqlHandles, workspaceId: string) {
  const memberships = inWorkspace(sql, workspaceId, MEMBERSHIPS);
  const identities = inWorkspace(sql, workspaceId, IDENTITIES);
  const identityJoins = inWorkspace(sql, workspaceId, IDENTITY_JOINS);
  const { raiseEpoch } = makeAccessStore(sql, workspaceId);
  const joins = (where: { principal: Principal } | { userId: string }) =>
    recordsOf(IDENTITY_JOINS, identityJoins.select(where).selectAll().orderBy("joinedAt", "desc"));

  const store = {
    /**
     * Returns a connector's users, by principal. `isJoined` true = only users who are linked to a member; false = only
     * the others.
     */
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
      let query = identities
        .select({ connectorId })
        .leftJoin("identity_joins as j", (on) =>
          on.on(same({ ...IDENTITY_JOINS, name: "j" }, IDENTITIES, "principal")).on("j.endedAt", "is", null),
        )
        .select([
          "identities.principal",
          "identities.state",
          "identities.name",
          "identities.login",
          "identities.email",
          "identities.isEmailVerified",
          "identities.aliasOf",
          "identities.toldAt",
        ])
        .select(["j.userId", "j.basis"]);
      if (after !== undefined) query = query.where("identities.principal", ">", after);
      if (only !== undefined) query = query.where("identities.principal", "=", only);
      if (offset !== undefined) query = query.offset(offset);
      if (isJoined !== undefined) query = query.where("j.userId", isJoined ? "is not" : "is", null);
      const rows = await query.orderBy("identities.principal").limit(limit).execute();
      return rows.map((row) => ({
        ...row,
        isEmailVerified: row.isEmailVerified === 1,
      }));
    },

    /** Returns the connector's records of these users, by principal. */
    async listNamed(connectorId: string, named: readonly Principal[]): Promise<IdentityRecord[]> {
      const found: IdentityRecord[] = [];
      for (const principal of [...named].sort()) {
        found.push(...(await store.list(connectorId, { limit: 1, only: principal })));
      }
      return found;
    },

    /** Returns the users of an instance who are linked to a member; `instance` is the prefix of their principals. */
    async listJoinedOf(instance: string): Promise<Principal[]> {
      const rows = await identityJoins
        .select({ endedAt: null })
        .select("principal")
        .where("principal", ">=", instance)
        .where("principal", "<", `${instance}\u{10ffff}`)
        .execute();
      return rows.map((row) => row.principal);
    },

    /** Returns the connector's record of one of its users. */
    find: (connectorId: string, principal: Principal) => identities.find({ connectorId, principal }),

    /** Returns the connectors that report a user, with their reports. */
    async reportersOf(
      principal: Principal,
    ): Promise<{ connectorId: string; state: IdentityState; isTrusted: boolean }[]> {
      const rows = await identities.select({ principal }).select(["connectorId", "state", "isTrusted"]).execute();
      return rows.map(IDENTITIES.read);
    },

    /** Returns the members to whom a user of a source is or was linked, the latest first. */
    joinsOf: (principal: Principal) => joins({ principal }),

    /** Returns the users of sources to whom a member is or was linked, the latest first. */
    joinsOfMember: (userId: string) => joins({ userId }),

    /**
     * Links a user of a source to a member, and raises the epoch. Call it in a transaction. The link is valid while a
     * trusted connector reports the user as active.
     *
     * @returns the member to whom the user was linked until now, if it was another one
     * @throws ApiError `conflict` for a basis other than `admin` while the user is linked to another member
     */
    async join(
      join: Pick<IdentityJoin, "principal" | "userId" | "connectorId" | "basis" | "joinedBy" | "joinedAt">,
    ): Promise<EndedJoin | undefined> {
      const { principal, userId, joinedAt, joinedBy } = join;
      const [current] = await identityJoins.select({ principal, endedAt: null }).selectAll().execute();
      if (current && current.userId !== userId && join.basis !== "admin") {
        throw new ApiError("conflict", { message: "This user of the source is already linked to another member." });
      }
      const ended =
        current && current.userId !== userId
          ? await store.end(principal, { at: joinedAt, by: joinedBy, reason: "untied" })
          : undefined;
      const fresh = { endedAt: null, endedBy: null, endReason: null };
      await identityJoins.insert({ ...join, ...fresh, hasLeft: false }, { ...join, ...fresh });
      await memberships.insert({ groupPrincipal: principal, memberPrincipal: `user:${userId}`, reportedBy: "kb" }, {});
      await raiseEpoch();
      return ended;
    },

    /**
     * Ends the link of a user of a source, if there is one, and raises the epoch. The link is remembered. Call it in a
     * transaction.
     */
    async end(
      principal: Principal,
      { at, by, reason }: { at: number; by: string | null; reason: EndedJoin["reason"] },
    ): Promise<EndedJoin | undefined> {
      const [ended] = await identityJoins
        .updating({ principal, endedAt: null })
        .set({ endedAt: at, endedBy: by, endReason: reason })
        .returning("userId")
        .execute();
      if (!ended) return undefined;
      await memberships.remove({
        groupPrincipal: principal,
        memberPrincipal: `user:${ended.userId}`,
        reportedBy: "kb",
      });
      await raiseEpoch();
      return { principal, userId: ended.userId, reason };
    },

    /**
     * Records that a member's own account at the source confirmed at this instant which user it is. While that is
     * trusted, the user is active, and a link by the account is valid. Call it in a transaction.
     */
    async reportByAccount(
      report: Pick<IdentityRecord, "principal" | "name" | "login" | "toldAt"> & { accountId: string },
    ): Promise<void> {
      const { accountId, principal, ...fields } = report;
      await identities.insert(
        {
          principal,
          connectorId: accountId,
          toldIn: "account",
          instance: instanceOf(principal) ?? "",
          state: "active",
          email: null,
          emailKey: null,
          isEmailVerified: false,
          isTrusted: true,
          aliasOf: null,
          followsFeed: false,
          seenBy: null,
          ...fields,
        },
        fields,
      );
    },

    /** Withdraws what an account confirmed. */
    forgetByAccount: (accountId: string) => identities.remove({ connectorId: accountId }),

    /**
     * Returns members matched to the connector's users by address. The address must be verified at both ends, be in one
     * of these domains, and be held by a single active user of the instance who isn't linked to a member. Never
     * matched: the former address of a member who left or changed it, a user of the source who was once linked to a
     * member who left, and a pair that an admin has rejected.
     *
     * @param domains  in lower case
     */
    async matchEmails(connectorId: string, domains: readonly string[], limit: number): Promise<EmailMatch[]> {
      if (domains.length === 0) return [];
      const rows = await identities
        .select({ connectorId, state: "active", isTrusted: 1, isEmailVerified: 1, aliasOf: null })
        .innerJoin("users as u", "u.emailKey", "identities.emailKey")
        .innerJoin("members as m", (on) =>
          on.onRef("m.userId", "=", "u.userId").onRef("m.workspaceId", "=", "identities.workspaceId"),
        )
        .select(["identities.principal", "u.userId"])
        .where("u.emailVerifiedAt", "is not", null)
        .where(rawSql<string>`substr("identities"."emailKey", instr("identities"."emailKey", '@') + 1)`, "in", domains)
        .where(({ not, exists, selectFrom, ref, or, and, eb }) =>
          and([
            not(
              exists(
                selectFrom("identity_joins as j")
                  .select("j.userId")
                  .where(same({ ...IDENTITY_JOINS, name: "j" }, IDENTITIES, "principal"))
                  .where((on) =>
                    on.or([
                      on("j.endedAt", "is", null),
                      on("j.hasLeft", "=", 1),
                      // An admin decided that they are different people.
                      on.and([eb(on.ref("j.userId"), "=", on.ref("u.userId")), on("j.endedBy", "is not", null)]),
                    ]),
                  ),
              ),
            ),
            not(
              exists(
                selectFrom("former_addresses as f")
                  .select("f.userId")
                  .where(same({ ...FORMER_ADDRESSES, name: "f" }, IDENTITIES, "emailKey"))
                  .where((on) => or([on("f.hasLeft", "=", 1), eb(on.ref("f.userId"), "!=", on.ref("u.userId"))])),
              ),
            ),
            // A source reports another holder of the address. With two holders, neither is certain.
            not(
              exists(
                selectFrom("identities as o")
                  .select("o.principal")
                  .where(same({ ...IDENTITIES, name: "o" }, IDENTITIES, "emailKey", "instance"))
                  .whereRef("o.principal", "!=", ref("identities.principal"))
                  .where("o.state", "=", "active")
                  .where("o.isTrusted", "=", 1)
                  .where((on) =>
                    on.or([on("o.aliasOf", "is", null), on("o.aliasOf", "!=", on.ref("identities.principal"))]),
                  ),
              ),
            ),
            not(
              exists(
                selectFrom("identities as s")
                  .select("s.principal")
                  .where(same({ ...IDENTITIES, name: "s" }, IDENTITIES, "principal"))
                  .where("s.isTrusted", "=", 1)
                  .where("s.state", "!=", "active"),
              ),
            ),
          ]),
        )
        .orderBy("identities.principal")
        .limit(limit)
        .execute();
      return rows;
    },
  };
  return store;
}

/**
 * Ends the links of a member who leaves to users of sources. The links are never made again by email, for the same
 * person or anyone else.
 */
export async function endJoinsOf(sql: SqlHandles, { workspaceId, userId, at }: Whose): Promise<void> {
  // By principal: with the user alone, SQLite would walk all joins of the workspace for the update.
  const of = () =>
    inWorkspace(sql, workspaceId, IDENTITY_JOINS)
      .updating({ userId })
      .where("principal", "in", ({ selectFrom }) =>
        selectFrom("identity_joins as j")
          .select("j.principal")
          .where("j.workspaceId", "=", workspaceId)
          .where("j.userId", "=", userId),
      );
  await of().set({ endedAt: at, endReason: "left" }).where("endedAt", "is", null).execute();
  await of().set({ hasLeft: 1 }).execute();
}
