import { actOn } from "#storage/audit-act.ts";
import type { MemberCall } from "#server/http/mount.ts";
import type { Account, AccountProviderInfo, accountRoutes } from "#api/accounts.ts";
import { ApiError, noSuchThing } from "#api/errors.ts";
import { normalizeBaseUrl } from "#core/base-url.ts";
import type { AccountProvider } from "#sources/account-contract.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { AccountRecord } from "#storage/records/accounts.ts";
import { whoOf } from "./connect.ts";
import { type AccountDeps, requireProvider } from "./deps.ts";
import { loseAccess } from "./reauth.ts";
import { saveAccount } from "./save.ts";
import { toAccount, toProviderInfo, toStatus } from "./view.ts";

/** Lists the person's accounts, and the providers where they can connect one. */
export async function listAccounts(deps: AccountDeps, { actor }: MemberCall<typeof accountRoutes.list>) {
  const accounts: Account[] = [];
  for (const account of await deps.store.in(actor.workspaceId).accounts.listOf(actor.userId)) {
    accounts.push(await toAccount(deps, actor, account));
  }
  const providers: AccountProviderInfo[] = [];
  for (const known of deps.book.list()) {
    const instances = await deps.book.instancesOf(deps.store, actor.workspaceId, known.provider.providerId);
    providers.push(toProviderInfo(deps.book, known, instances));
  }
  return { accounts, providers };
}

/** @throws ApiError `not_found` */
export async function describeProvider(
  deps: AccountDeps,
  { actor, params: { provider } }: Pick<MemberCall<typeof accountRoutes.status>, "actor" | "params">,
) {
  const known = requireProvider(deps.book, provider);
  const accounts = await deps.store.in(actor.workspaceId).accounts.listOf(actor.userId);
  return toStatus(
    known,
    accounts.filter((account) => account.providerId === provider),
  );
}

/**
 * Connects an account with a token that the person enters. The provider's response to the token identifies the account.
 *
 * @throws ApiError `provider_unknown`, `provider_unavailable` if the provider has no such tokens,
 *   `instance_not_trusted`, `account_taken`, `account_differs` if it isn't the account to be reconnected, and the
 *   provider's errors
 */
export async function addAccount(deps: AccountDeps, { actor, body }: MemberCall<typeof accountRoutes.add>) {
  const { book, keeper } = deps;
  const { credentials, accountId } = body;
  const provider = requireTokens(deps, body.providerId);
  const wanted = accountId === undefined ? undefined : await requireOwn(deps, actor, provider, accountId);
  const instance = wanted?.baseUrl ?? (await requireInstance(deps, actor, provider, body.baseUrl));
  const place = book.placeOf(provider, instance);
  const identity = await provider.whoami(keeper.wayTo(provider, place, credentials.token), place);
  const who = whoOf(provider, instance, identity);
  if (wanted && wanted.principal !== who.principal) {
    throw new ApiError("account_differs", {
      message: `This token belongs to ${who.label}, not to ${wanted.label}.`,
      hint: "Give a token of the same account. To connect another account as well, leave out the account's ID.",
      field: "token",
    });
  }
  const account = await saveAccount(deps, actor, {
    ...who,
    scopes: identity.scopes ?? [],
    way: "token",
    secrets: { accessToken: credentials.token },
    expiresAt: null,
  });
  return { account: await toAccount(deps, actor, account) };
}

/**
 * Disconnects an account: it is no longer used for reading, and its tokens are revoked.
 *
 * @throws ApiError `not_found`
 */
export async function disconnectAccount(
  deps: AccountDeps,
  { actor, params: { id: accountId } }: MemberCall<typeof accountRoutes.disconnect>,
) {
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
    await audit.record(tx, actor, actOn(accountId, "account.disconnected", details));
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
  if (provider.ownTokens) return provider;
  throw new ApiError("provider_unavailable", {
    message: `${provider.name} doesn't support tokens of your own. Connect your account in a browser.`,
    field: "providerId",
  });
}

/** Finds the person's own account that is to be reconnected. */
async function requireOwn(
  { store }: AccountDeps,
  actor: Actor,
  { providerId }: AccountProvider,
  accountId: string,
): Promise<AccountRecord> {
  const account = await store.in(actor.workspaceId).accounts.find(accountId);
  const isTheirs = account?.userId === actor.userId && account.providerId === providerId;
  if (!isTheirs || account.state === "ended") throw noSuchThing();
  return account;
}

/** Finds the instance with this name. Without a name, finds the only trusted instance. */
async function requireInstance(
  { book, store }: AccountDeps,
  { workspaceId }: Actor,
  { providerId, name, ownTokens }: AccountProvider,
  named: string | undefined,
): Promise<string> {
  const place = book.find(providerId)?.place;
  const registered = await book.instancesOf(store, workspaceId, providerId);
  const [only, ...others] = registered.filter(ownTokens?.areAt ?? (() => true));
  if (named === undefined && only !== undefined && (place || others.length === 0)) return only;
  const normal = normalizeBaseUrl(named ?? "");
  if (normal === undefined) {
    throw new ApiError("invalid_request", {
      message: `Give the base URL of ${name}, such as ${only ?? "https://git.example.org"}.`,
      ...(only === undefined && { hint: registerHint(providerId) }),
      field: "baseUrl",
    });
  }
  // People enter the address that they open in the browser.
  const isFixed = place !== undefined && normal === normalizeBaseUrl(place.baseUrl);
  const instance = isFixed && only !== undefined ? only : normal;
  if (!registered.includes(instance)) {
    throw new ApiError("instance_not_trusted", {
      message: `${instance} is not a registered instance of ${name}.`,
      hint: registerHint(providerId, instance),
      field: "baseUrl",
    });
  }
  if (ownTokens?.areAt?.(instance) !== false) return instance;
  throw new ApiError("provider_unavailable", {
    message: `A token of ${instance} can't prove who you are.`,
    hint: "An admin can link you on the page of the connector.",
    field: "baseUrl",
  });
}

function registerHint(providerId: string, instance = "URL"): string {
  return `An admin can register it: kb workspace update --add-instance ${providerId}=${instance}`;
}
