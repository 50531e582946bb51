import { sessionRoutes } from "#api/session.ts";
import type { Deps } from "#server/deps.ts";
import type { SessionCookie } from "#server/http/cookies.ts";
import type { AppContext } from "#server/http/env.ts";
import type { Call, Mount } from "#server/http/mount.ts";
import { readCookie } from "#server/http/authenticate.ts";
import type { OpenedSession, SignInContext } from "./service.ts";

/** `/api/session`, `/api/sessions`, `/api/onboarding`, `/api/invitations/accept`. */
export function mountSessions(
  at: Mount,
  deps: Pick<Deps, "sessions" | "onboarding" | "invitationAcceptance" | "cookie">,
): void {
  const { sessions, onboarding, invitationAcceptance, cookie } = deps;
  at.open(sessionRoutes.signIn, (call) => keep(call.c, sessions.signIn(call.body, contextOf(call, cookie))));
  at.member(sessionRoutes.get, ({ actor }) => sessions.describe(actor));
  at.member(sessionRoutes.signOut, async ({ actor, c }) => c.header("Set-Cookie", await sessions.signOut(actor)));
  at.member(sessionRoutes.list, ({ actor, query }) => sessions.list(actor, query));
  at.member(sessionRoutes.revoke, ({ actor, params }) => sessions.revoke(actor, params.id));
  at.open(sessionRoutes.onboardingState, ({ origin }) => onboarding.state(origin));
  at.open(sessionRoutes.onboard, (call) => keep(call.c, onboarding.onboard(call.body, contextOf(call, cookie))));
  at.open(sessionRoutes.accept, (call) =>
    keep(call.c, invitationAcceptance.accept(call.body, contextOf(call, cookie))),
  );
}

/** Sets the cookie and answers with the session. */
async function keep(c: AppContext, opened: Promise<OpenedSession>) {
  const { session, setCookie } = await opened;
  c.header("Set-Cookie", setCookie);
  return session;
}

function contextOf({ c, origin }: Pick<Call<never>, "c" | "origin">, cookie: SessionCookie): SignInContext {
  return {
    origin,
    userAgent: c.req.header("user-agent") ?? null,
    formerSecret: readCookie(c.req.raw.headers, cookie.name) ?? null,
  };
}
