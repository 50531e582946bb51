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

  /** Straight on from a page of ours, which has said what will be connected; from anywhere else by way of that page. */
  async function goFrom(c: AppContext, providerId: string, returnTo: string | undefined): Promise<string> {
    const { client } = requireProvider(deps.book, providerId);
    const isOurs = c.req.header("sec-fetch-site") === "same-origin";
    const actor = isOurs && client ? await actorOf(c) : undefined;
    return actor ? (await depart(deps, actor, providerId, { returnTo })).url : pageBefore(providerId, returnTo);
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
    goTo(c, await goFrom(c, params.provider, query.returnTo)),
  );
  at.open(accountRoutes.fixedCallback, ({ c, params }) => comeBack(c, params.provider));
  at.member(accountRoutes.fixedStatus, ({ actor, params }) => describeProvider(deps, actor, params.provider));
  at.open(accountRoutes.authorize, async ({ c, params, query }) =>
    goTo(c, await goFrom(c, further(params.provider), query.returnTo)),
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
