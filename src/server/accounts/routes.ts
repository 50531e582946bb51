import { accountRoutes } from "#api/accounts.ts";
import { findVisitor, type SessionLookup } from "#server/http/authenticate.ts";
import type { SessionCookie } from "#server/http/cookies.ts";
import type { AppContext } from "#server/http/env.ts";
import type { Mount } from "#server/http/mount.ts";
import { arrive, decideFound, depart, describeFound, pageBefore } from "./connect.ts";
import { type AccountDeps, requireProvider } from "./deps.ts";
import { FIXED_PROVIDERS } from "./providers.ts";
import { addAccount, describeProvider, disconnectAccount, listAccounts } from "./service.ts";

interface Services {
  accountDeps: AccountDeps;
  cookie: SessionCookie;
  sessions: SessionLookup;
}

/**
 * Mounts `/api/oauth/<provider>` for the three providers in the contract, and `/api/accounts/<provider>` for all
 * others.
 */
export function mountAccounts(at: Mount, { accountDeps: deps, ...visiting }: Services): void {
  /**
   * Redirects to the page that shows which account will be connected. It does so for every browser, since anyone can
   * have made the link, even on a page of this server. On that page, a `POST` in the person's session continues the
   * flow. Source: S30.
   */
  function pageFor(providerId: string, returnTo: string | undefined): string {
    requireProvider(deps.book, providerId);
    return pageBefore(providerId, returnTo);
  }

  const goTo = async (c: AppContext, url: string) => {
    c.header("Referrer-Policy", "no-referrer");
    return c.redirect(url, 302);
  };
  const comeBack = async (c: AppContext, providerId: string) =>
    goTo(
      c,
      await arrive(
        deps,
        await findVisitor(c.req.raw.headers, visiting),
        providerId,
        new URL(c.req.url).search.slice(1),
      ),
    );
  const further = (providerId: string) => {
    if ((FIXED_PROVIDERS as readonly string[]).includes(providerId)) return "";
    return providerId;
  };

  const { fixedAuthorize, fixedCallback, authorize, callback, ...ofMembers } = accountRoutes;
  at.open(fixedAuthorize, async ({ c, params, query }) => goTo(c, pageFor(params.provider, query.returnTo)));
  at.open(fixedCallback, ({ c, params }) => comeBack(c, params.provider));
  at.open(authorize, async ({ c, params, query }) => goTo(c, pageFor(further(params.provider), query.returnTo)));
  at.open(callback, ({ c, params }) => comeBack(c, further(params.provider)));
  at.membersWith(deps, ofMembers, {
    fixedStatus: describeProvider,
    status: describeProvider,
    begin: depart,
    list: listAccounts,
    add: addAccount,
    found: describeFound,
    confirm: decideFound,
    disconnect: disconnectAccount,
  });
}
