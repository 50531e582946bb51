import { ApiError } from "#api/errors.ts";
import type { ConnectorAccounts } from "#server/connectors/credentials.ts";
import type { AccountDeps } from "./deps.ts";

/** Lets connectors read with the accounts of their owners. Source: S5. */
export function makeConnectorAccounts({
  store,
  book,
  keeper,
}: Pick<AccountDeps, "store" | "book" | "keeper">): ConnectorAccounts {
  return {
    async own(actor, accountId, providerId) {
      const account = await store.in(actor.workspaceId).accounts.find(accountId);
      if (account?.userId !== actor.userId || account.state === "ended") {
        throw new ApiError("connector_config_invalid", {
          message: "You have no account with this ID. See them: kb accounts list.",
          field: "accountId",
        });
      }
      if (account.providerId !== providerId) {
        const name = book.find(providerId)?.provider.name ?? providerId;
        throw new ApiError("connector_config_invalid", {
          message: `This is not an account at ${name}.`,
          field: "accountId",
        });
      }
      if (account.state === "needs_reauth") {
        throw new ApiError("connector_config_invalid", {
          message: "The provider no longer accepts this account. Connect it again first.",
          field: "accountId",
        });
      }
      return keeper.tokensOf(actor.workspaceId, account);
    },
    async tokensOf(workspaceId, accountId) {
      const account = await store.in(workspaceId).accounts.find(accountId);
      if (account && account.state !== "ended") return keeper.tokensOf(workspaceId, account);
      throw new ApiError("source_unauthorized", { message: "The connector's account was disconnected." });
    },
    async ownerOf(workspaceId, accountId) {
      const account = await store.in(workspaceId).accounts.find(accountId);
      return account?.state === "ended" ? undefined : account?.userId;
    },
  };
}
