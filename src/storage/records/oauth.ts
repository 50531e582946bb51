import { Role } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { GRANTS, OAUTH_CLIENTS } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { makeClientDocumentStore } from "./client-documents.ts";
import { endGrant, endGrantsOf, type GrantRecord } from "./grants.ts";
import type { WithMembership } from "./sessions.ts";

/** A client that registered itself. Instants are epoch milliseconds. */
export type OAuthClientRecord = RecordOf<typeof OAUTH_CLIENTS>;

/** A code, token, interaction or device code of the authorization server. Instants are epoch milliseconds. */
export interface OAuthRecord {
  model: string;
  /** SHA-256 of the identifier, which for codes and tokens is the secret itself. */
  idHash: string;
  /** JSON, sealed. */
  sealed: string;
  grantId: string | null;
  userCodeHash: string | null;
  consumedAt: number | null;
  expiresAt: number | null;
}

/** The current grant and person behind an access token. Instants are epoch milliseconds. */
export interface OAuthAccess extends WithMembership {
  sealed: string;
  expiresAt: number | null;
  grant: GrantRecord;
}

/** Records of the authorization server; none is bound to a workspace before a person decides. */
export function makeOAuthStore(sql: SqlHandles) {
  return { ...makeClients(sql), ...makeClientDocumentStore(sql), ...makeRecords(sql), ...makeGrants(sql) };
}

// Raw: a client is of no workspace, and any of them may have let it in.
function makeClients(sql: SqlHandles) {
  return {
    async findClient(clientId: string): Promise<OAuthClientRecord | undefined> {
      const row = await sql.read
        .selectFrom("oauth_clients")
        .selectAll()
        .where("clientId", "=", clientId)
        .executeTakeFirst();
      return row && OAUTH_CLIENTS.read(row);
    },

    async insertClient(client: OAuthClientRecord): Promise<void> {
      await sql.write.insertInto("oauth_clients").values(OAUTH_CLIENTS.write(client)).execute();
    },

    /** Writes `lastUsedAt`, unless it is younger than `unlessAfter`. */
    async markClientUsed(clientId: string, at: number, unlessAfter: number): Promise<void> {
      await sql.write
        .updateTable("oauth_clients")
        .set({ lastUsedAt: at })
        .where("clientId", "=", clientId)
        .where((eb) => eb.or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<=", unlessAfter)]))
        .execute();
    },

    /**
     * Deletes clients unused since `unusedSince`, and of those never used the oldest beyond `keepUnused`. A client of a
     * living grant stays.
     */
    async sweepClients({
      unusedSince,
      keepUnused,
      now,
    }: {
      unusedSince: number;
      keepUnused: number;
      now: number;
    }): Promise<number> {
      const living = sql.write
        .selectFrom("grants")
        .select("clientId")
        .where("revokedAt", "is", null)
        .where("expiresAt", ">", now);
      const old = await sql.write
        .deleteFrom("oauth_clients")
        .where((eb) => eb(eb.fn.coalesce("lastUsedAt", "createdAt"), "<=", unusedSince))
        .where("clientId", "not in", living)
        .executeTakeFirst();
      const many = await sql.write
        .deleteFrom("oauth_clients")
        .where("lastUsedAt", "is", null)
        .where("clientId", "not in", living)
        .where("clientId", "not in", (eb) =>
          eb
            .selectFrom("oauth_clients as kept")
            .select("kept.clientId")
            .where("kept.lastUsedAt", "is", null)
            .orderBy("kept.createdAt", "desc")
            .limit(keepUnused),
        )
        .executeTakeFirst();
      return Number(old.numDeletedRows + many.numDeletedRows);
    },
  };
}

function makeRecords(sql: SqlHandles) {
  return {
    async find(model: string, idHash: string): Promise<OAuthRecord | undefined> {
      return await sql.read
        .selectFrom("oauth_records")
        .selectAll()
        .where("model", "=", model)
        .where("idHash", "=", idHash)
        .executeTakeFirst();
    },

    async findByUserCode(userCodeHash: string): Promise<OAuthRecord | undefined> {
      return await sql.read
        .selectFrom("oauth_records")
        .selectAll()
        .where("userCodeHash", "=", userCodeHash)
        .executeTakeFirst();
    },

    /** Writes the record; one that is there keeps its `consumedAt`. */
    async save(record: Omit<OAuthRecord, "consumedAt">): Promise<void> {
      const { sealed, grantId, userCodeHash } = record;
      const { expiresAt } = record;
      await sql.write
        .insertInto("oauth_records")
        .values({ ...record, expiresAt, consumedAt: null })
        .onConflict((oc) => oc.columns(["model", "idHash"]).doUpdateSet({ sealed, grantId, userCodeHash, expiresAt }))
        .execute();
    },

    /** True for exactly one caller. */
    async consume(model: string, idHash: string, at: number): Promise<boolean> {
      const result = await sql.write
        .updateTable("oauth_records")
        .set({ consumedAt: at })
        .where("model", "=", model)
        .where("idHash", "=", idHash)
        .where("consumedAt", "is", null)
        .executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },

    async remove(model: string, idHash: string): Promise<void> {
      await sql.write.deleteFrom("oauth_records").where("model", "=", model).where("idHash", "=", idHash).execute();
    },

    /** Deletes what expired before `now`. @returns how many */
    async sweep(now: number): Promise<number> {
      const result = await sql.write.deleteFrom("oauth_records").where("expiresAt", "<=", now).executeTakeFirst();
      return Number(result.numDeletedRows);
    },

    /** By the hash of an access token; undefined when its person isn't a member of the grant's workspace any more. */
    async findAccess(idHash: string): Promise<OAuthAccess | undefined> {
      const row = await sql.read
        .selectFrom("oauth_records")
        .innerJoin("grants", "grants.grantId", "oauth_records.grantId")
        .innerJoin("members", (join) =>
          join.onRef("members.workspaceId", "=", "grants.workspaceId").onRef("members.userId", "=", "grants.userId"),
        )
        .innerJoin("users", "users.userId", "grants.userId")
        .innerJoin("workspaces", "workspaces.workspaceId", "grants.workspaceId")
        .selectAll("grants")
        .select(["oauth_records.sealed", "oauth_records.expiresAt as tokenExpiresAt", "members.role"])
        .select(["users.timeZone as ownZone", "workspaces.timeZone as workspaceZone"])
        .where("oauth_records.model", "=", "AccessToken")
        .where("oauth_records.idHash", "=", idHash)
        .executeTakeFirst();
      return (
        row && {
          sealed: row.sealed,
          expiresAt: row.tokenExpiresAt,
          grant: GRANTS.read(row),
          role: Role.parse(row.role),
          timeZone: row.ownZone ?? row.workspaceZone,
        }
      );
    },
  };
}

// Raw: a grant is known by its own id, before its workspace is.
function makeGrants(sql: SqlHandles) {
  const findRow = (from: SqlHandles["read"], grantId: string) =>
    from.selectFrom("grants").selectAll().where("grantId", "=", grantId).executeTakeFirst();
  return {
    async findGrant(grantId: string): Promise<GrantRecord | undefined> {
      const row = await findRow(sql.read, grantId);
      return row && GRANTS.read(row);
    },

    /** Moves the grant's end and writes `lastUsedAt`. */
    async extendGrant(grantId: string, at: number, expiresAt: number): Promise<void> {
      await sql.write
        .updateTable("grants")
        .set({ lastUsedAt: at, expiresAt })
        .where("grantId", "=", grantId)
        .where("revokedAt", "is", null)
        .execute();
    },

    /** Writes `lastUsedAt`, unless it is younger than `unlessAfter`. */
    async markGrantUsed(grantId: string, at: number, unlessAfter: number): Promise<void> {
      await sql.write
        .updateTable("grants")
        .set({ lastUsedAt: at })
        .where("grantId", "=", grantId)
        .where((eb) => eb.or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<=", unlessAfter)]))
        .execute();
    },

    /**
     * Ends one grant with everything that depends on it: codes, tokens, personal access tokens that it made.
     *
     * @returns the grant as it was; undefined for an unknown one and for one that had ended before
     */
    async endGrant(grantId: string, at: number): Promise<GrantRecord | undefined> {
      const row = await findRow(sql.write, grantId);
      if (!row || row.revokedAt !== null) return undefined;
      await endGrant(sql, row, at);
      return GRANTS.read(row);
    },

    /**
     * Ends the grants of a person, in one workspace or in all of them. Call it in the transaction of the act.
     *
     * @returns how many living ones there were
     */
    endGrantsOf: (of: { userId: string; workspaceId?: string }, at: number): Promise<number> =>
      endGrantsOf(sql, of, at),

    /** Ends everyone's grants, as `endGrant` does. @returns how many living ones there were */
    endAllGrants: (at: number): Promise<number> => endGrantsOf(sql, {}, at),
  };
}
