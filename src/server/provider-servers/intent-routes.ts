import { connectionIntentRoutes } from "#api/connections.ts";
import { findVisitor, readCookie, type SessionLookup } from "#server/http/authenticate.ts";
import { makeSecretCookie, type SessionCookie } from "#server/http/cookies.ts";
import { defined } from "#core/defined.ts";
import type { AppContext } from "#server/http/env.ts";
import type { Mount } from "#server/http/mount.ts";
import { FLOW_MS } from "#server/accounts/one-time.ts";
import { arriveIntent, decideFoundConnection, describeFoundConnection } from "./arrive.ts";
import type { ServerDeps } from "./deps.ts";
import { openIntent, readIntent } from "./intents.ts";

interface Services {
  settings: { baseUrl: string };
  serverDeps: ServerDeps;
  cookie: SessionCookie;
  sessions: SessionLookup;
}

/** Mounts the routes of the intent page, and the callbacks of providers. */
export function mountConnectionIntents(at: Mount, services: Services): void {
  const { serverDeps: deps, settings } = services;
  const routes = connectionIntentRoutes;
  const browser = makeSecretCookie(settings.baseUrl, { onHttps: "__Host-kb-connect", onHttp: "kb_connect" });

  at.member(routes.read, ({ actor, body }) => readIntent(deps, actor, body.intent));
  at.member(routes.open, async ({ actor, body, c }) => {
    const { url, browserSecret } = await openIntent(deps, actor, body.intent);
    if (browserSecret !== undefined) {
      c.header("Set-Cookie", browser.set(browserSecret, FLOW_MS / 1_000), { append: true });
    }
    return { url };
  });
  const comeBack = async (c: AppContext, callback?: string) => {
    const { headers } = c.req.raw;
    const actor = await findVisitor(headers, services);
    const query = new URL(c.req.url).search.slice(1);
    const back = { query, ...defined({ callback }) };
    const path = await arriveIntent(deps, actor, back, readCookie(headers, browser.name));
    c.header("Set-Cookie", browser.clear(), { append: true });
    c.header("Referrer-Policy", "no-referrer");
    return c.redirect(path, 302);
  };
  at.open(routes.callback, ({ c }) => comeBack(c));
  at.open(routes.callbackOf, ({ c, params }) => comeBack(c, params.client));
  at.member(routes.found, ({ actor, body }) => describeFoundConnection(deps, actor, body.id));
  at.member(routes.confirm, ({ actor, body }) => decideFoundConnection(deps, actor, body.id, body.isAccepted));
  at.open(routes.client, ({ c }) => {
    c.header("Cache-Control", "public, max-age=300");
    return deps.oauth.clientDocument();
  });
}
