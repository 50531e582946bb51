import type { Selectable } from "kysely";
import { Role } from "#api/common.ts";
import type { OAuthClientRecord, OAuthRecord, OAuthStore } from "#storage/records-types/oauth.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { OAuthClientsTable, OAuthRecordsTable } from "#storage/schema.ts";
import { toColumn, toDate, toDateOrNull } from "#storage/times.ts";
import { endGrant, endGrantsOf, toGrant } from "./grants.ts";

/** What the authorization server keeps. */
export function makeOAuthStore(sql: SqlHandles): OAuthStore {
  return { ...makeClients(sql), ...makeRecords(sql), ...makeGrants(sql) };
}

type Clients = Pick<OAuthStore, "findClient" | "insertClient" | "markClientUsed" | "sweepClients">;
type Records = Pick<OAuthStore, "find" | "findByUserCode" | "save" | "consume" | "remove" | "sweep" | "findAccess">;
type Grants = Omit<OAuthStore, keyof Clients | keyof Records>;

function makeClients(sql: SqlHandles): Clients {
  return {
    async findClient(clientId) {
      const row = await sql.read
        .selectFrom("oauth_clients")
        .selectAll()
        .where("clientId", "=", clientId)
        .executeTakeFirst();
      return row && toClient(row);
    },

    async insertClient(client) {
      await sql.write
        .insertInto("oauth_clients")
        .values({
          clientId: client.clientId,
          metadata: JSON.stringify(client.metadata),
          ip: client.ip,
          createdAt: client.createdAt.getTime(),
          lastUsedAt: toColumn(client.lastUsedAt),
        })
        .execute();
    },

    async markClientUsed(clientId, at, unlessAfter) {
      await sql.write
        .updateTable("oauth_clients")
        .set({ lastUsedAt: at.getTime() })
        .where("clientId", "=", clientId)
        .where((eb) => eb.or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<=", unlessAfter.getTime())]))
        .execute();
    },

    async sweepClients({ unusedSince, keepUnused, now }) {
      const living = sql.write
        .selectFrom("grants")
        .select("clientId")
        .where("revokedAt", "is", null)
        .where("expiresAt", ">", now.getTime());
      const old = await sql.write
        .deleteFrom("oauth_clients")
        .where((eb) => eb(eb.fn.coalesce("lastUsedAt", "createdAt"), "<=", unusedSince.getTime()))
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

function makeRecords(sql: SqlHandles): Records {
  return {
    async find(model, idHash) {
      const row = await sql.read
        .selectFrom("oauth_records")
        .selectAll()
        .where("model", "=", model)
        .where("idHash", "=", idHash)
        .executeTakeFirst();
      return row && toRecord(row);
    },

    async findByUserCode(userCodeHash) {
      const row = await sql.read
        .selectFrom("oauth_records")
        .selectAll()
        .where("userCodeHash", "=", userCodeHash)
        .executeTakeFirst();
      return row && toRecord(row);
    },

    async save(record) {
      const { sealed, grantId, userCodeHash } = record;
      const expiresAt = toColumn(record.expiresAt);
      await sql.write
        .insertInto("oauth_records")
        .values({ ...record, expiresAt, consumedAt: null })
        .onConflict((oc) => oc.columns(["model", "idHash"]).doUpdateSet({ sealed, grantId, userCodeHash, expiresAt }))
        .execute();
    },

    async consume(model, idHash, at) {
      const result = await sql.write
        .updateTable("oauth_records")
        .set({ consumedAt: at.getTime() })
        .where("model", "=", model)
        .where("idHash", "=", idHash)
        .where("consumedAt", "is", null)
        .executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },

    async remove(model, idHash) {
      await sql.write.deleteFrom("oauth_records").where("model", "=", model).where("idHash", "=", idHash).execute();
    },

    async sweep(now) {
      const result = await sql.write
        .deleteFrom("oauth_records")
        .where("expiresAt", "<=", now.getTime())
        .executeTakeFirst();
      return Number(result.numDeletedRows);
    },

    async findAccess(idHash) {
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
          expiresAt: toDateOrNull(row.tokenExpiresAt),
          grant: toGrant(row),
          role: Role.parse(row.role),
          timeZone: row.ownZone ?? row.workspaceZone,
        }
      );
    },
  };
}

function makeGrants(sql: SqlHandles): Grants {
  const findRow = (from: SqlHandles["read"], grantId: string) =>
    from.selectFrom("grants").selectAll().where("grantId", "=", grantId).executeTakeFirst();
  return {
    async findGrant(grantId) {
      const row = await findRow(sql.read, grantId);
      return row && toGrant(row);
    },

    async extendGrant(grantId, at, expiresAt) {
      await sql.write
        .updateTable("grants")
        .set({ lastUsedAt: at.getTime(), expiresAt: expiresAt.getTime() })
        .where("grantId", "=", grantId)
        .where("revokedAt", "is", null)
        .execute();
    },

    async markGrantUsed(grantId, at, unlessAfter) {
      await sql.write
        .updateTable("grants")
        .set({ lastUsedAt: at.getTime() })
        .where("grantId", "=", grantId)
        .where((eb) => eb.or([eb("lastUsedAt", "is", null), eb("lastUsedAt", "<=", unlessAfter.getTime())]))
        .execute();
    },

    async endGrant(grantId, at) {
      const row = await findRow(sql.write, grantId);
      if (!row || row.revokedAt !== null) return undefined;
      await endGrant(sql, row, at);
      return toGrant(row);
    },

    endGrantsOf: (of, at) => endGrantsOf(sql, of, at),
  };
}

function toClient(row: Selectable<OAuthClientsTable>): OAuthClientRecord {
  return {
    clientId: row.clientId,
    // Written by `insertClient` as an object.
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    ip: row.ip,
    createdAt: toDate(row.createdAt),
    lastUsedAt: toDateOrNull(row.lastUsedAt),
  };
}

function toRecord(row: Selectable<OAuthRecordsTable>): OAuthRecord {
  return { ...row, consumedAt: toDateOrNull(row.consumedAt), expiresAt: toDateOrNull(row.expiresAt) };
}
