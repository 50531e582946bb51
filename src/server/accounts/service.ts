import type { Account, AccountProviderInfo, AccountStatus, AddAccountBody } from "#api/accounts.ts";
import { ApiError, noSuchThing } from "#api/errors.ts";
import { normalizeBaseUrl } from "#core/base-url.ts";
import type { AccountProvider } from "#sources/account-contract.ts";
import type { Actor } from "#storage/access/actor.ts";
import { whoOf } from "./connect.ts";
import { type AccountDeps, requireProvider } from "./deps.ts";
import { instanceUrlOf } from "./providers.ts";
import { loseAccess } from "./reauth.ts";
import { saveAccount } from "./save.ts";
import { toAccount, toProviderInfo, toStatus } from "./view.ts";

/** The person's accounts, and where they can connect one. */
export async function listAccounts(
  deps: AccountDeps,
  actor: Actor,
): Promise<{ accounts: Account[]; providers: AccountProviderInfo[] }> {
  const workspace = deps.store.in(actor.workspaceId);
  const accounts: Account[] = [];
  for (const account of await workspace.accounts.listOf(actor.userId)) {
    accounts.push(await toAccount(deps, actor, account));
  }
  const registered = await workspace.instances.list();
  const providers = deps.book.list().map((known) => {
    const { providerId } = known.provider;
    const baseUrls = registered.filter((each) => each.providerId === providerId).map(({ baseUrl }) => baseUrl);
    return toProviderInfo(known, baseUrls);
  });
  return { accounts, providers };
}

/** @throws ApiError `not_found` */
export async function describeProvider(deps: AccountDeps, actor: Actor, providerId: string): Promise<AccountStatus> {
  const known = requireProvider(deps.book, providerId);
  const accounts = await deps.store.in(actor.workspaceId).accounts.listOf(actor.userId);
  return toStatus(
    known,
    accounts.filter((account) => account.providerId === providerId),
  );
}

/**
 * Connects an account by a token of the person's own: what the provider says with it is who they are.
 *
 * @throws ApiError `provider_unknown`, `provider_unavailable` when the provider has no such tokens, `instance_not_trusted`,
 *   `account_taken`, and what the provider says
 */
export async function addAccount(deps: AccountDeps, actor: Actor, body: AddAccountBody): Promise<{ account: Account }> {
  const { book, keeper, store } = deps;
  const { providerId, credentials } = body;
  const provider = requireTokens(deps, providerId);
  const instance = requireInstance(deps, provider, body.baseUrl);
  if (!(await book.isRegistered(store, actor.workspaceId, providerId, instance))) {
    throw new ApiError("instance_not_trusted", {
      message: `${instance} is not a registered instance of ${provider.name}.`,
      hint: `An admin can register it: kb workspace update --add-instance ${providerId}=${instance}`,
      field: "baseUrl",
    });
  }
  const place = book.placeOf(provider, instance);
  const said = await provider.whoami(keeper.wayTo(provider, place, credentials.token), place);
  const account = await saveAccount(deps, actor, {
    ...whoOf(provider, instance, said),
    scopes: said.scopes ?? [],
    way: "token",
    secrets: { accessToken: credentials.token },
    expiresAt: null,
  });
  return { account: await toAccount(deps, actor, account) };
}

/** Ends an account: nothing is read with it any more, and its tokens are revoked. @throws ApiError `not_found` */
export async function disconnectAccount(deps: AccountDeps, actor: Actor, accountId: string): Promise<void> {
  const { store, clock, links, audit } = deps;
  const { workspaceId, userId } = actor;
  await store.transaction(async (tx) => {
    const { accounts } = tx.in(workspaceId);
    const account = await accounts.find(accountId);
    if (account?.userId !== userId || account.state === "ended") throw noSuchThing();
    await links.end(tx, workspaceId, account, "account_disconnected");
    await loseAccess(tx, clock, { workspaceId, accountId, isGone: true });
    await accounts.update(accountId, { state: "ended", stateReason: null, dueAt: clock.now(), tries: 0 });
    const details = { providerId: account.providerId, principal: account.principal };
    await audit.record(tx, actor, {
      action: "account.disconnected",
      target: { type: "account", id: accountId },
      details,
    });
  });
  deps.wake();
}

function requireTokens({ book }: AccountDeps, providerId: string): AccountProvider {
  const provider = book.find(providerId)?.provider;
  if (!provider) {
    const known = book.list().map((each) => each.provider.providerId);
    throw new ApiError("provider_unknown", {
      message: `There are no accounts at "${providerId}". Providers: ${known.join(", ")}.`,
      field: "providerId",
    });
  }
  if (provider.ownTokensAt !== undefined) return provider;
  throw new ApiError("provider_unavailable", {
    message: `${provider.name} has no tokens that you could give. Connect your account there.`,
    field: "providerId",
  });
}

function requireInstance({ book }: AccountDeps, provider: AccountProvider, baseUrl: string | undefined): string {
  const place = book.find(provider.providerId)?.place;
  if (baseUrl === undefined && place) return instanceUrlOf(provider, place);
  const normal = normalizeBaseUrl(baseUrl ?? "");
  // People know the address that they open.
  if (place && normal === normalizeBaseUrl(place.baseUrl)) return instanceUrlOf(provider, place);
  if (normal !== undefined) return normal;
  throw new ApiError("invalid_request", {
    message: `Say which ${provider.name}: its base URL, such as https://git.example.org.`,
    field: "baseUrl",
  });
}
