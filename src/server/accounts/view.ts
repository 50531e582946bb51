import type { Account, AccountProviderInfo, AccountStatus } from "#api/accounts.ts";
import { isoOf } from "#core/instant.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { AccountRecord } from "#storage/records/accounts.ts";
import type { AccountDeps } from "./deps.ts";
import { instanceUrlOf, type KnownProvider, urlAt } from "./providers.ts";

/** An account as its person sees it; never a token. */
export async function toAccount(
  { store, book }: Pick<AccountDeps, "store" | "book">,
  actor: Actor,
  account: AccountRecord,
): Promise<Account> {
  const workspace = store.in(actor.workspaceId);
  const { providerId, baseUrl, principal, userId } = account;
  const provider = book.find(providerId)?.provider;
  const [join] = (await workspace.identities.joinsOf(principal)).filter(({ endedAt }) => endedAt === null);
  const connectors = await workspace.connectors.listOnAccount(account.accountId);
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

export function toStatus(
  { provider, client, place, redirectUrl }: KnownProvider,
  accounts: readonly AccountRecord[],
): AccountStatus {
  return {
    provider: provider.providerId,
    configured: client !== undefined && place !== undefined,
    connected: accounts.some(({ state }) => state === "active"),
    accounts: accounts.map(toSummary),
    redirectUrl,
  };
}

/** @param baseUrls  registered instances of the provider */
export function toProviderInfo(known: KnownProvider, baseUrls: readonly string[]): AccountProviderInfo {
  const { provider, client, place, redirectUrl } = known;
  const at = (template: string) => (place ? urlAt(template, place) : template.includes("{") ? null : template);
  const name = provider.providerId.toUpperCase().replaceAll("-", "_");
  const own = place ? [instanceUrlOf(provider, place)] : [];
  return {
    providerId: provider.providerId,
    name: provider.name,
    configured: client !== undefined && place !== undefined,
    baseUrl: place?.baseUrl ?? null,
    scopes: [...provider.oauth.scopes],
    ownTokens:
      provider.ownTokensAt === undefined
        ? null
        : { baseUrls: [...new Set([...own, ...baseUrls])], url: at(provider.ownTokensAt) },
    setUp: {
      url: at(provider.setUp.url),
      steps: provider.setUp.steps,
      redirectUrl,
      env: [...(provider.usual ? [] : [`KB_${name}_URL`]), `KB_${name}_CLIENT_ID`, `KB_${name}_CLIENT_SECRET_FILE`],
    },
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
