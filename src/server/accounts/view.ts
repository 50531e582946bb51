import type { Account, AccountProviderInfo, AccountStatus } from "#api/accounts.ts";
import { isoOf } from "#core/instant.ts";
import type { OAuthSpec } from "#sources/account-contract.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { AccountRecord } from "#storage/records/accounts.ts";
import type { AccountDeps } from "./deps.ts";
import { configured, type KnownProvider, type ProviderBook, urlAt } from "./providers.ts";

/** Returns an account as its owner sees it, without tokens. */
export async function toAccount(
  { store, book }: Pick<AccountDeps, "store" | "book">,
  actor: Actor,
  account: AccountRecord,
): Promise<Account> {
  const workspace = store.in(actor.workspaceId);
  const { providerId, baseUrl, principal, userId } = account;
  const provider = book.find(providerId)?.provider;
  const [join] = (await workspace.identities.joinsOf(principal)).filter(({ endedAt }) => endedAt === null);
  const connectors = await workspace.connectors.listOn({ accountId: account.accountId });
  return {
    ...toSummary(account),
    providerId,
    providerName: provider?.name ?? providerId,
    baseUrl: provider ? book.placeOf(provider, baseUrl).baseUrl : baseUrl,
    login: account.login,
    principal,
    stateReason: account.stateReason,
    way: account.way,
    confirmedAt: isoOf(account.confirmedAt),
    isLinked: join?.userId === userId,
    connectors: connectors.map(({ connectorId, name }) => ({ id: connectorId, name })),
    createdAt: isoOf(account.createdAt),
  };
}

export function toStatus(known: KnownProvider, accounts: readonly AccountRecord[]): AccountStatus {
  const { provider, redirectUrl } = known;
  return {
    provider: provider.providerId,
    configured: configured(known) !== undefined,
    connected: accounts.some(({ state }) => state === "active"),
    accounts: accounts.map(toSummary),
    redirectUrl: provider.oauth ? redirectUrl : null,
  };
}

/** @param instances the provider's instances whose users can be members */
export function toProviderInfo(
  book: Pick<ProviderBook, "placeOf">,
  known: KnownProvider,
  instances: readonly string[],
): AccountProviderInfo {
  const { provider, place } = known;
  const { oauth, ownTokens } = provider;
  const { areAt = () => true } = ownTokens ?? {};
  return {
    providerId: provider.providerId,
    name: provider.name,
    configured: configured(known) !== undefined,
    baseUrl: place?.baseUrl ?? null,
    scopes: [...(oauth?.scopes ?? [])],
    ownTokens: ownTokens
      ? {
          steps: ownTokens.steps,
          instances: instances.filter(areAt).map((baseUrl) => ({
            baseUrl,
            url: ownTokens.url === undefined ? null : urlAt(ownTokens.url, book.placeOf(provider, baseUrl)),
          })),
        }
      : null,
    setUp: oauth ? toSetUp(known, oauth) : null,
  };
}

function toSetUp({ provider, place, redirectUrl }: KnownProvider, { setUp }: OAuthSpec): AccountProviderInfo["setUp"] {
  const name = provider.providerId.toUpperCase().replaceAll("-", "_");
  return {
    url: place ? urlAt(setUp.url, place) : setUp.url.includes("{") ? null : setUp.url,
    steps: setUp.steps,
    redirectUrl,
    env: [...(provider.usual ? [] : [`KB_${name}_URL`]), `KB_${name}_CLIENT_ID`, `KB_${name}_CLIENT_SECRET_FILE`],
  };
}

function toSummary({ accountId, label, scopes, state, expiresAt }: AccountRecord): AccountStatus["accounts"][number] {
  return {
    id: accountId,
    label,
    scopes: [...scopes],
    state: state === "active" ? "active" : "needs_reauth",
    expiresAt: expiresAt === null ? null : isoOf(expiresAt),
  };
}
