import { accountRoutes } from "#api/accounts.ts";
import { readCookie } from "#server/http/authenticate.ts";
import type { SessionCookie } from "#server/http/cookies.ts";
import type { AppContext } from "#server/http/env.ts";
import type { Mount } from "#server/http/mount.ts";
import type { SessionService } from "#server/identity/sessions/service.ts";
import type { Actor } from "#storage/access/actor.ts";
import { arrive, decideFound, depart, describeFound, pageBefore } from "./connect.ts";
import { type AccountDeps, requireProvider } from "./deps.ts";
import { FIXED_PROVIDERS } from "./providers.ts";
import { addAccount, describeProvider, disconnectAccount, listAccounts } from "./service.ts";

interface Services {
  accountDeps: AccountDeps;
  cookie: SessionCookie;
  sessions: Pick<SessionService, "findActor">;
}

/** `/api/oauth/<provider>` for the three that the contract names, `/api/accounts/<provider>` for all others. */
export function mountAccounts(at: Mount, { accountDeps: deps, cookie, sessions }: Services): void {
  async function actorOf(c: AppContext): Promise<Actor | undefined> {
    const secret = readCookie(c.req.raw.headers, cookie.name);
    return secret === undefined ? undefined : sessions.findActor(secret);
  }

  /**
   * Redirects to our page that shows what will be connected, wherever the browser comes from: anyone may have made the
   * link, even on one of our own pages. From there a `POST` in the person's session continues. Source: S30.
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
    goTo(c, await arrive(deps, await actorOf(c), providerId, new URL(c.req.url).search.slice(1)));
  const further = (providerId: string) => {
    if ((FIXED_PROVIDERS as readonly string[]).includes(providerId)) return "";
    return providerId;
  };

  at.open(accountRoutes.fixedAuthorize, async ({ c, params, query }) =>
    goTo(c, pageFor(params.provider, query.returnTo)),
  );
  at.open(accountRoutes.fixedCallback, ({ c, params }) => comeBack(c, params.provider));
  at.member(accountRoutes.fixedStatus, ({ actor, params }) => describeProvider(deps, actor, params.provider));
  at.open(accountRoutes.authorize, async ({ c, params, query }) =>
    goTo(c, pageFor(further(params.provider), query.returnTo)),
  );
  at.open(accountRoutes.callback, ({ c, params }) => comeBack(c, further(params.provider)));
  at.member(accountRoutes.status, ({ actor, params }) => describeProvider(deps, actor, params.provider));
  at.member(accountRoutes.begin, ({ actor, params, body }) => depart(deps, actor, params.provider, body));
  at.member(accountRoutes.list, ({ actor }) => listAccounts(deps, actor));
  at.member(accountRoutes.add, ({ actor, body }) => addAccount(deps, actor, body));
  at.member(accountRoutes.found, ({ actor, body }) => describeFound(deps, actor, body.id));
  at.member(accountRoutes.confirm, ({ actor, body }) => decideFound(deps, actor, body.id, body.isAccepted));
  at.member(accountRoutes.disconnect, ({ actor, params }) => disconnectAccount(deps, actor, params.id));
}
