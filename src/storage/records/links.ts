import type { SqlHandles } from "#storage/handles.ts";
import { EMAIL_LINKS } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/** A link that was mailed or handed over; its secret is known to its holder only. Instants are epoch milliseconds. */
export type LinkRecord = RecordOf<typeof EMAIL_LINKS>;
export type LinkPurpose = LinkRecord["purpose"];

/** Links that were mailed or handed over, across workspaces. */
export function makeLinkStore(sql: SqlHandles) {
  const ending = (at: number) => sql.write.updateTable("email_links").set({ usedAt: at }).where("usedAt", "is", null);

  return {
    async insert(link: LinkRecord & { tokenHash: string }): Promise<void> {
      await sql.write.insertInto("email_links").values(EMAIL_LINKS.write(link)).execute();
    },

    /** By the SHA-256 of its secret; undefined when used, ended or expired. */
    async findOpen(tokenHash: string, now: number): Promise<LinkRecord | undefined> {
      const row = await sql.read
        .selectFrom("email_links")
        .selectAll()
        .where("tokenHash", "=", tokenHash)
        .where("usedAt", "is", null)
        .where("expiresAt", ">", now)
        .executeTakeFirst();
      return row && EMAIL_LINKS.read(row);
    },

    /** True for exactly one caller, and only while it is open. */
    async use(tokenHash: string, at: number): Promise<boolean> {
      const result = await ending(at).where("tokenHash", "=", tokenHash).where("expiresAt", ">", at).executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },

    /** Ends the open links of a person, for all purposes unless one is given. */
    async endOf(userId: string, at: number, purpose?: LinkPurpose): Promise<void> {
      const query = ending(at).where("userId", "=", userId);
      await (purpose === undefined ? query : query.where("purpose", "=", purpose)).execute();
    },

    /** Deletes what expired before. */
    async sweep(before: number): Promise<void> {
      await sql.write.deleteFrom("email_links").where("expiresAt", "<", before).execute();
    },
  };
}

/**
 * Ends the open links that a person made for members of a workspace and received: with one they could sign in as the
 * member. Links that this server mailed stay, because the member alone has them.
 *
 * @returns how many
 */
export async function endHandedLinksOf(
  sql: SqlHandles,
  { workspaceId, userId, at }: { workspaceId: string; userId: string; at: number },
): Promise<number> {
  const rows = await sql.write
    .selectFrom("email_links")
    .innerJoin("members", "members.userId", "email_links.userId")
    .select(["email_links.tokenHash", "email_links.details"])
    .where("members.workspaceId", "=", workspaceId)
    .where("email_links.isMailed", "=", 0)
    .where("email_links.usedAt", "is", null)
    .execute();
  const theirs = rows.filter((row) => EMAIL_LINKS.read(row).details["madeBy"] === userId);
  for (const { tokenHash } of theirs) {
    await sql.write.updateTable("email_links").set({ usedAt: at }).where("tokenHash", "=", tokenHash).execute();
  }
  return theirs.length;
}
