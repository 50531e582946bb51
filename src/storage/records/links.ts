import { defined } from "#core/defined.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces } from "#storage/in-workspace.ts";
import { changesOf, firstOf } from "#storage/results.ts";
import { EMAIL_LINKS } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import type { Whose } from "./whose.ts";

/** A link that was mailed or handed over. Only its holder knows its secret. Instants are epoch milliseconds. */
export type LinkRecord = RecordOf<typeof EMAIL_LINKS>;
export type LinkPurpose = LinkRecord["purpose"];

/** Reads and writes links that were mailed or handed over, across workspaces. */
export function makeLinkStore(sql: SqlHandles) {
  const links = acrossWorkspaces(sql, EMAIL_LINKS);

  return {
    insert: (link: LinkRecord & { tokenHash: string }) => links.insert(link),

    /** Returns a link by the SHA-256 of its secret; undefined when the link was used, ended or expired. */
    findOpen: (tokenHash: string, now: number) =>
      firstOf(EMAIL_LINKS, links.select({ tokenHash, usedAt: null }).selectAll().where("expiresAt", ">", now)),

    /** Uses up a link. Returns true for exactly one caller, and only while the link is open. */
    async use(tokenHash: string, at: number): Promise<boolean> {
      const open = links.updating({ tokenHash, usedAt: null }).where("expiresAt", ">", at);
      return (await changesOf(open.set({ usedAt: at }))) === 1;
    },

    /** Ends the open links of a person, for all purposes unless one is given. */
    endOf: (userId: string, at: number, purpose?: LinkPurpose) =>
      links.update({ userId, usedAt: null, ...defined({ purpose }) }, { usedAt: at }),

    /** Deletes links that expired before this time. */
    async sweep(before: number): Promise<void> {
      await links.deleting().where("expiresAt", "<", before).execute();
    },
  };
}

/**
 * Ends the open links that a person made for members of a workspace and was handed. With such a link the person could
 * sign in as the member. Links that this server mailed stay, because only the member has them.
 *
 * @returns how many
 */
export async function endHandedLinksOf(sql: SqlHandles, { workspaceId, userId, at }: Whose): Promise<number> {
  // Read through the writer, because the next write depends on it.
  const links = acrossWorkspaces({ read: sql.write }, EMAIL_LINKS);
  const rows = await links
    .select({ isMailed: 0, usedAt: null })
    .innerJoin("members", "members.userId", "email_links.userId")
    .select(["email_links.tokenHash", "email_links.details"])
    .where("members.workspaceId", "=", workspaceId)
    .execute();
  const theirs = rows.filter((row) => EMAIL_LINKS.read(row).details["madeBy"] === userId);
  for (const { tokenHash } of theirs) await links.update({ tokenHash }, { usedAt: at });
  return theirs.length;
}
