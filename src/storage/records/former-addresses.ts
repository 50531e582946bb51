import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { FORMER_ADDRESSES } from "#storage/tables/identities.ts";

/** Remembers a changed address, so that its next holder isn't linked to the former holder's users at sources. */
// Raw: of every workspace that the person is in.
export async function keepFormerAddresses(sql: SqlHandles, userId: string, emailKey: string): Promise<void> {
  await sql.write
    .insertInto("former_addresses")
    .columns(["workspaceId", "emailKey", "userId", "hasLeft"])
    .expression((eb) =>
      eb
        .selectFrom("members")
        .innerJoin("users", "users.userId", "members.userId")
        .select((of) => ["members.workspaceId", "users.emailKey", "users.userId", of.lit(0).as("hasLeft")])
        .where("users.userId", "=", userId)
        .where("users.emailKey", "!=", emailKey),
    )
    .onConflict((oc) => oc.doNothing())
    .execute();
}

/**
 * Remembers the addresses of a member who leaves, so that the next holder, even the same person, isn't linked to a user
 * of a source by them.
 */
// Raw: made of a row of another table; the workspace is among its values.
export async function keepAddressOfLeft(
  sql: SqlHandles,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<void> {
  await sql.write
    .insertInto("former_addresses")
    .columns(["workspaceId", "emailKey", "userId", "hasLeft"])
    .expression((eb) =>
      eb
        .selectFrom("users")
        .select((of) => [of.val(workspaceId).as("workspaceId"), "emailKey", "userId", of.lit(1).as("hasLeft")])
        .where("userId", "=", userId),
    )
    .onConflict((oc) => oc.columns(["workspaceId", "emailKey", "userId"]).doUpdateSet({ hasLeft: 1 }))
    .execute();
  await inWorkspace(sql, workspaceId, FORMER_ADDRESSES).updating({ userId }).set({ hasLeft: 1 }).execute();
}
