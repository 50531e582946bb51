import { makeConnectorAccounts } from "#server/accounts/for-connectors.ts";
import type { AccountDeps } from "#server/accounts/deps.ts";
import { makeFlows } from "#server/accounts/flows.ts";
import { makeOneTime } from "#server/accounts/one-time.ts";
import { makeAccountLinks } from "#server/accounts/links.ts";
import { makeProviderBook } from "#server/accounts/providers.ts";
import { loseAccess } from "#server/accounts/reauth.ts";
import { makeAccountKeeper } from "#server/accounts/tokens.ts";
import { loseToOther, makeAccountUpkeep } from "#server/accounts/upkeep.ts";
import { requestSync } from "#server/sync/schedule/request.ts";
import type { Sleep } from "#core/clock.ts";
import { loadAccountProviders } from "#sources/account-registry.ts";
import type { SourceHttpPool } from "#sources/http/pool.ts";
import type { Foundation } from "./foundation.ts";
import type { Identity } from "./identity.ts";

export type Accounts = Awaited<ReturnType<typeof makeAccounts>>;

/** Builds people's accounts: their identities at other services, and the credentials with which connectors read. */
export async function makeAccounts(
  { store, clock, log, randomBytes, vault, settings }: Foundation,
  { audit }: Pick<Identity, "audit">,
  adapters: { http: SourceHttpPool; sleep: Sleep; wake(): void },
) {
  const { http, sleep, wake } = adapters;
  const { baseUrl, instances } = settings;
  const book = makeProviderBook({
    providers: await loadAccountProviders(),
    settings: settings.accounts,
    baseUrl,
    instances,
  });
  const links = makeAccountLinks({ clock, audit });
  const keeper = makeAccountKeeper({
    store,
    clock,
    randomBytes,
    vault,
    log,
    http,
    book,
    sleep,
    onRefused: (workspaceId, accountId) =>
      store.transaction((tx) => loseAccess(tx, clock, { workspaceId, accountId, isGone: false })),
    onOther: (workspaceId, accountId) =>
      store.transaction((tx) => loseToOther({ tx, links, clock }, workspaceId, accountId)),
  });
  const once = makeOneTime({ store, clock, randomBytes, vault });
  const upkeep = makeAccountUpkeep({ store, clock, log, book, keeper, links });
  const accountDeps: AccountDeps = {
    store,
    clock,
    randomBytes,
    log,
    audit,
    book,
    flows: makeFlows({ once }),
    keeper,
    links,
    request: (tx, workspaceId, connector) =>
      requestSync(tx, workspaceId, connector, { trigger: "manual", now: clock.now(), randomBytes }),
    wake,
  };
  return { accountDeps, once, upkeep, forConnectors: makeConnectorAccounts(accountDeps) };
}
