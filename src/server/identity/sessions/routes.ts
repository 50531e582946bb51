import { linkRoutes } from "#api/links.ts";
import { profileRoutes, sessionRoutes, signUpRoutes } from "#api/session.ts";
import { readCookie } from "#server/http/authenticate.ts";
import type { SecretCookie, SessionCookie } from "#server/http/cookies.ts";
import type { AppContext } from "#server/http/env.ts";
import type { Call, Mount } from "#server/http/mount.ts";
import type { OpenedSession, SignInContext } from "./sign-in.ts";
import type { AcceptService } from "./accept.ts";
import type { ConfirmService } from "./confirm.ts";
import type { KnownBrowsers } from "./known-browsers.ts";
import type { OnboardingService } from "./onboarding.ts";
import type { ProfileService } from "./profile.ts";
import type { ResetService } from "./reset.ts";
import type { SessionService } from "./service.ts";
import type { SignUpService } from "./sign-up.ts";

interface Services {
  sessions: SessionService;
  onboarding: OnboardingService;
  invitationAcceptance: AcceptService;
  signUp: SignUpService;
  confirmations: ConfirmService;
  passwordReset: ResetService;
  profile: ProfileService;
  cookie: SessionCookie;
  signUpCookie: SecretCookie;
  knownBrowsers: KnownBrowsers;
}

/** Mounts `/api/session`, `/api/sessions`, `/api/onboarding`, `/api/invitations/check`, `/api/invitations/accept`. */
export function mountSessions(at: Mount, services: Services): void {
  const { sessions, onboarding, invitationAcceptance } = services;
  at.open(sessionRoutes.signIn, (call) =>
    keep(services, call.c, sessions.signIn(call.body, contextOf(call, services))),
  );
  at.member(sessionRoutes.get, ({ actor }) => sessions.describe(actor));
  at.member(sessionRoutes.signOut, async ({ actor, c }) => c.header("Set-Cookie", await sessions.signOut(actor)));
  at.member(sessionRoutes.list, sessions.list);
  at.member(sessionRoutes.revoke, ({ actor, params }) => sessions.revoke(actor, params.id));
  at.member(sessionRoutes.switchWorkspace, (call) =>
    keep(services, call.c, sessions.switchWorkspace(call.actor, call.body.workspaceId, contextOf(call, services))),
  );
  at.open(sessionRoutes.onboardingState, ({ origin }) => onboarding.state(origin));
  at.open(sessionRoutes.onboard, (call) =>
    keep(services, call.c, onboarding.onboard(call.body, contextOf(call, services))),
  );
  at.open(linkRoutes.checkInvitation, ({ body, origin }) => invitationAcceptance.check(body.token, origin));
  at.open(sessionRoutes.accept, (call) =>
    keep(services, call.c, invitationAcceptance.accept(call.body, contextOf(call, services))),
  );
  mountSignUp(at, services);
  mountProfile(at, services);
}

/** Mounts `/api/sign-up`, `/api/password-reset`, `/api/email-verification`. */
function mountSignUp(at: Mount, services: Services): void {
  const { signUp, confirmations, passwordReset, profile, signUpCookie } = services;
  at.open(signUpRoutes.signUp, async (call) => {
    const made = await signUp.signUp(call.body, contextOf(call, services));
    setCookie(call.c, made.setCookie);
    return { sent: true as const };
  });
  at.open(signUpRoutes.requestReset, async (call) => {
    await passwordReset.request(call.body.email, contextOf(call, services));
    return { sent: true as const };
  });
  at.open(linkRoutes.checkReset, ({ body, origin }) => passwordReset.check(body.token, origin));
  at.open(signUpRoutes.confirmReset, (call) =>
    keep(services, call.c, passwordReset.confirm(call.body, contextOf(call, services))),
  );
  at.member(signUpRoutes.requestVerification, (call) =>
    profile.requestVerification(call.actor, contextOf(call, services)),
  );
  at.open(signUpRoutes.confirm, async (call) => {
    const browserSecret = readOther(call.c, signUpCookie);
    const { purpose, opened } = await confirmations.confirm(call.body, browserSecret, contextOf(call, services));
    const session = opened ? await keep(services, call.c, opened) : null;
    if (purpose === "sign_up") setCookie(call.c, signUpCookie.clear());
    return { purpose, session };
  });
}

/** Mounts `/api/profile`. */
function mountProfile(at: Mount, services: Services): void {
  const { profile } = services;
  at.member(profileRoutes.update, ({ actor, body }) => profile.update(actor, body));
  at.member(profileRoutes.changePassword, (call) =>
    profile.changePassword(call.actor, call.body, contextOf(call, services)),
  );
  at.member(profileRoutes.changeEmail, (call) => profile.changeEmail(call.actor, call.body, contextOf(call, services)));
  at.member(profileRoutes.identities, ({ actor }) => profile.identities(actor));
}

/** Sets the cookie and responds with the session. From then on the browser is known for this person. */
async function keep(
  { knownBrowsers }: Pick<Services, "knownBrowsers">,
  c: AppContext,
  opened: OpenedSession | Promise<OpenedSession>,
) {
  const { session, setCookie: value } = await opened;
  setCookie(c, value);
  setCookie(c, knownBrowsers.remember(knownBrowsers.cookieIn(c.req.header("cookie")), session.user.id));
  return session;
}

function setCookie(c: AppContext, value: string | null): void {
  if (value !== null) c.header("Set-Cookie", value, { append: true });
}

function readOther(c: AppContext, { name }: SecretCookie): string | null {
  return readCookie(c.req.raw.headers, name) ?? null;
}

function contextOf(
  { c, origin }: Pick<Call<never>, "c" | "origin">,
  { cookie, knownBrowsers }: Pick<Services, "cookie" | "knownBrowsers">,
): SignInContext {
  return {
    knownBrowser: knownBrowsers.cookieIn(c.req.header("cookie")),
    origin,
    userAgent: c.req.header("user-agent") ?? null,
    formerSecret: readCookie(c.req.raw.headers, cookie.name) ?? null,
  };
}
