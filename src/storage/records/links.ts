import type { Selectable } from "kysely";
import type { LinkPurpose, LinkRecord, LinkStore } from "#storage/records-types/links.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { EmailLinksTable } from "#storage/schema.ts";
import { toDate } from "#storage/times.ts";

/** Links that were mailed or handed over. */
export function makeLinkStore(sql: SqlHandles): LinkStore {
  const ending = (at: Date) =>
    sql.write.updateTable("email_links").set({ usedAt: at.getTime() }).where("usedAt", "is", null);

  return {
    async insert(link) {
      await sql.write
        .insertInto("email_links")
        .values({
          tokenHash: link.tokenHash,
          purpose: link.purpose,
          userId: link.userId,
          email: link.email,
          isMailed: link.isMailed ? 1 : 0,
          details: JSON.stringify(link.details),
          createdAt: link.createdAt.getTime(),
          expiresAt: link.expiresAt.getTime(),
          usedAt: null,
        })
        .execute();
    },

    async findOpen(tokenHash, now) {
      const row = await sql.read
        .selectFrom("email_links")
        .selectAll()
        .where("tokenHash", "=", tokenHash)
        .where("usedAt", "is", null)
        .where("expiresAt", ">", now.getTime())
        .executeTakeFirst();
      return row && toLink(row);
    },

    async use(tokenHash, at) {
      const result = await ending(at)
        .where("tokenHash", "=", tokenHash)
        .where("expiresAt", ">", at.getTime())
        .executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },

    async endOf(userId, at, purpose) {
      const query = ending(at).where("userId", "=", userId);
      await (purpose === undefined ? query : query.where("purpose", "=", purpose)).execute();
    },

    async sweep(before) {
      await sql.write.deleteFrom("email_links").where("expiresAt", "<", before.getTime()).execute();
    },
  };
}

function toLink(row: Selectable<EmailLinksTable>): LinkRecord {
  return {
    // Written by `insert` only.
    purpose: row.purpose as LinkPurpose,
    userId: row.userId,
    email: row.email,
    isMailed: row.isMailed === 1,
    // Written by `insert` as a JSON object.
    details: JSON.parse(row.details) as Record<string, unknown>,
    createdAt: toDate(row.createdAt),
    expiresAt: toDate(row.expiresAt),
  };
}
