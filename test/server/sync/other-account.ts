import type { Database } from "#storage/database/db.ts";
import type { TestUser } from "../../helpers.ts";

/** Gives a connector another account to read with: one that nobody asks for a token, as its source does not sign in. */
export async function useAccount(
  { database }: { database: Database },
  { workspaceId, userId }: Pick<TestUser, "workspaceId" | "userId">,
  { connectorId, accountId, providerId }: { connectorId: string; accountId: string; providerId: string },
): Promise<void> {
  await database.write
    .insertInto("provider_accounts")
    .values({
      workspaceId,
      accountId,
      userId,
      providerId,
      baseUrl: "https://one.test",
      principal: `user:${providerId}:one.test:7`,
      label: "Ann",
      login: null,
      scopes: "[]",
      way: "token",
      sealed: "",
      version: 1,
      expiresAt: null,
      lockedBy: null,
      lockedUntil: null,
      state: "active",
      stateReason: null,
      confirmedAt: 0,
      dueAt: null,
      tries: 0,
      createdAt: 0,
    })
    .execute();
  await database.write.updateTable("connectors").set({ accountId }).where("connectorId", "=", connectorId).execute();
}
