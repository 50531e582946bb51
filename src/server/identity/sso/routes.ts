import { ssoRoutes } from "#api/sso.ts";
import { readCookie } from "#server/http/authenticate.ts";
import type { AppContext } from "#server/http/env.ts";
import type { Call, Mount } from "#server/http/mount.ts";
import type { SignInContext } from "#server/identity/sessions/sign-in.ts";
import type { SecretCookie, SessionCookie } from "#server/http/cookies.ts";
import type { KnownBrowsers } from "#server/identity/sessions/known-browsers.ts";
import type { SsoService } from "./service.ts";
import { TRIP_LIFETIME_MS } from "./trips.ts";

interface Services {
  sso: SsoService;
  ssoCookie: SecretCookie;
  cookie: SessionCookie;
  knownBrowsers: KnownBrowsers;
}

/** Mounts `/api/sso`. */
export function mountSso(at: Mount, services: Services): void {
  const { sso, ssoCookie, cookie, knownBrowsers } = services;
  const remember = (c: AppContext, secret: string) => setCookie(c, ssoCookie.set(secret, TRIP_LIFETIME_MS / 1_000));
  const contextOf = ({ c, origin }: Pick<Call<never>, "c" | "origin">): SignInContext => ({
    origin,
    userAgent: c.req.header("user-agent") ?? null,
    formerSecret: readCookie(c.req.raw.headers, cookie.name) ?? null,
  });

  at.open(ssoRoutes.authorize, async (call) => {
    const departure = await sso.depart(call.query.returnTo, contextOf(call));
    if ("browserSecret" in departure) remember(call.c, departure.browserSecret);
    return call.c.redirect(departure.url, 302);
  });
  at.open(ssoRoutes.callback, async (call) => {
    const { c } = call;
    const query = new URL(c.req.url).searchParams.toString();
    const secret = readCookie(c.req.raw.headers, ssoCookie.name) ?? null;
    const { path, opened } = await sso.arrive(query, secret, contextOf(call));
    setCookie(c, ssoCookie.clear());
    if (opened) {
      setCookie(c, opened.setCookie);
      // The browser becomes known as after a password sign-in, so that a person who also has a password gets separate
      // tries in it.
      setCookie(c, knownBrowsers.remember(knownBrowsers.cookieIn(c.req.header("cookie")), opened.session.user.id));
    }
    return c.redirect(path, 302);
  });
  at.member(ssoRoutes.link, async (call) => {
    const { url, browserSecret } = await sso.link(call.actor, call.body.password, contextOf(call));
    remember(call.c, browserSecret);
    return { url };
  });
}

function setCookie(c: AppContext, value: string): void {
  c.header("Set-Cookie", value, { append: true });
}
