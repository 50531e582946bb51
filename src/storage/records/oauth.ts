import { nullOr, onSame } from "#storage/conditions.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces } from "#storage/in-workspace.ts";
import { changesOf } from "#storage/results.ts";
import { GRANTS, OAUTH_CLIENTS, OAUTH_RECORDS } from "#storage/tables/credentials.ts";
import { MEMBERS } from "#storage/tables/people.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { livingClients, makeClientDocumentStore } from "./client-documents.ts";
import { endGrant, endGrantsOf, type GrantRecord } from "./grants.ts";
import { membershipIn, memberships, type WithMembership } from "./memberships.ts";

/** A client that registered itself. Instants are epoch milliseconds. */
export type OAuthClientRecord = RecordOf<typeof OAUTH_CLIENTS>;

/** A code, token, interaction or device code of the authorization server. Instants are epoch milliseconds. */
export type OAuthRecord = RecordOf<typeof OAUTH_RECORDS>;

/** The current grant and person of an access token. Instants are epoch milliseconds. */
export interface OAuthAccess extends WithMembership {
  sealed: string;
  expiresAt: number | null;
  grant: GrantRecord;
}

/** Reads and writes records of the authorization server, which aren't bound to a workspace before a person decides. */
export function makeOAuthStore(sql: SqlHandles) {
  return { ...makeClients(sql), ...makeClientDocumentStore(sql), ...makeRecords(sql), ...makeGrants(sql) };
}

// Raw: a client is of no workspace, and any of them may have let it in.
function makeClients(sql: SqlHandles) {
  const clients = acrossWorkspaces(sql, OAUTH_CLIENTS);
  return {
    findClient: (clientId: string) => clients.find({ clientId }),

    insertClient: (client: OAuthClientRecord) => clients.insert(client),

    /** Writes `lastUsedAt`, unless the stored time is later than `unlessAfter`. */
    async markClientUsed(clientId: string, at: number, unlessAfter: number): Promise<void> {
      await clients
        .updating({ clientId })
        .set({ lastUsedAt: at })
        .where((eb) => nullOr(eb, "lastUsedAt", "<=", unlessAfter))
        .execute();
    },

    /**
     * Deletes clients unused since `unusedSince`, and the oldest never-used clients beyond `keepUnused`. A client with
     * a living grant stays.
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
      const unneeded = () => clients.deleting().where("clientId", "not in", livingClients(sql.write, now));
      const old = unneeded().where((eb) => eb(eb.fn.coalesce("lastUsedAt", "createdAt"), "<=", unusedSince));
      const many = unneeded()
        .where("lastUsedAt", "is", null)
        .where("clientId", "not in", (eb) =>
          eb
            .selectFrom("oauth_clients as kept")
            .select("kept.clientId")
            .where("kept.lastUsedAt", "is", null)
            .orderBy("kept.createdAt", "desc")
            .limit(keepUnused),
        );
      return (await changesOf(old)) + (await changesOf(many));
    },
  };
}

function makeRecords(sql: SqlHandles) {
  const records = acrossWorkspaces(sql, OAUTH_RECORDS);
  return {
    find: (model: string, idHash: string) => records.find({ model, idHash }),

    findByUserCode: (userCodeHash: string) => records.find({ userCodeHash }),

    /** Writes the record. A record that exists already keeps its `consumedAt`. */
    save: (record: Omit<OAuthRecord, "consumedAt">) => records.insert({ ...record, consumedAt: null }, record),

    /** Marks a record as consumed. Returns true for exactly one caller. */
    consume: async (model: string, idHash: string, at: number): Promise<boolean> =>
      (await records.update({ model, idHash, consumedAt: null }, { consumedAt: at })) === 1,

    remove: (model: string, idHash: string) => records.remove({ model, idHash }),

    /** Deletes records that expired before `now`. @returns how many */
    sweep: (now: number) => changesOf(records.deleting().where("expiresAt", "<=", now)),

    /**
     * Returns an access by the hash of an access token; undefined when its person is no longer a member of the grant's
     * workspace.
     */
    async findAccess(idHash: string): Promise<OAuthAccess | undefined> {
      const row = await memberships(sql.read)
        .innerJoin("grants", onSame(GRANTS, MEMBERS, "userId"))
        .innerJoin("oauth_records", "oauth_records.grantId", "grants.grantId")
        .selectAll("grants")
        .select(["oauth_records.sealed", "oauth_records.expiresAt as tokenExpiresAt"])
        .where("oauth_records.model", "=", "AccessToken")
        .where("oauth_records.idHash", "=", idHash)
        .executeTakeFirst();
      return (
        row && {
          sealed: row.sealed,
          expiresAt: row.tokenExpiresAt,
          grant: GRANTS.read(row),
          ...membershipIn(row),
        }
      );
    },
  };
}

// Raw: a grant is known by its own id, before its workspace is.
function makeGrants(sql: SqlHandles) {
  const grants = acrossWorkspaces(sql, GRANTS);
  return {
    findGrant: (grantId: string) => grants.find({ grantId }),

    /** Extends the grant and writes `lastUsedAt`. */
    extendGrant: (grantId: string, at: number, expiresAt: number) =>
      grants.update({ grantId, revokedAt: null }, { lastUsedAt: at, expiresAt }),

    /** Writes `lastUsedAt`, unless the stored time is later than `unlessAfter`. */
    async markGrantUsed(grantId: string, at: number, unlessAfter: number): Promise<void> {
      await grants
        .updating({ grantId })
        .set({ lastUsedAt: at })
        .where((eb) => nullOr(eb, "lastUsedAt", "<=", unlessAfter))
        .execute();
    },

    /**
     * Ends one grant with everything that depends on it: codes, tokens, and personal access tokens that were made with
     * it.
     *
     * @returns the grant as it was; undefined for an unknown one and for one that had already ended
     */
    async endGrant(grantId: string, at: number): Promise<GrantRecord | undefined> {
      // Read through the writer, because the next write depends on it.
      const grant = await acrossWorkspaces({ read: sql.write }, GRANTS).find({ grantId });
      if (!grant || grant.revokedAt !== null) return undefined;
      await endGrant(sql, grant, at);
      return grant;
    },

    /**
     * Ends the grants of a person, in one workspace or in all of them. Call it in the transaction of the act.
     *
     * @returns how many living grants there were
     */
    endGrantsOf: (of: { userId: string; workspaceId?: string }, at: number): Promise<number> =>
      endGrantsOf(sql, of, at),

    /** Ends all grants of all people, as `endGrant` does. @returns how many living grants there were */
    endAllGrants: (at: number): Promise<number> => endGrantsOf(sql, {}, at),
  };
}
