import { actOn } from "#storage/audit-act.ts";
import { defined } from "#core/defined.ts";
import { isOpenToStrangers } from "#server/settings/config.ts";
import { makeAuthenticator } from "#server/http/authenticate.ts";
import { makeSecretCookie, makeSessionCookie } from "#server/http/cookies.ts";
import { type CursorCodec, makeCursorCodec } from "#server/http/cursor.ts";
import { makeGuard } from "#server/http/guard.ts";
import { makeIdempotency } from "#server/http/idempotency.ts";
import { makeLimits } from "#server/http/limits.ts";
import { makeAuditService, type AuditService } from "#server/identity/audit/service.ts";
import { notingUses } from "#server/identity/audit/uses.ts";
import { makeGroupService } from "#server/identity/groups/service.ts";
import { makeOutbox } from "#server/events/outbox.ts";
import { makeAfterwards } from "#server/identity/mail/afterwards.ts";
import type { Mailer } from "#server/identity/mail/mailer.ts";
import { makePost, NO_MAILER } from "#server/identity/mail/post.ts";
import { makeOAuthService } from "#server/identity/oauth/service.ts";
import { makeAcceptService } from "#server/identity/sessions/accept.ts";
import { makeAccountService } from "#server/identity/sessions/accounts.ts";
import { makeConfirmService } from "#server/identity/sessions/confirm.ts";
import { takeTry } from "#server/identity/sessions/tries.ts";
import { makeKnownBrowsers } from "#server/identity/sessions/known-browsers.ts";
import { makeLinkService } from "#server/identity/sessions/links.ts";
import { makeOnboardingService } from "#server/identity/sessions/onboarding.ts";
import { makePasswords, type PasswordCosts } from "#server/identity/sessions/passwords.ts";
import { makeProfileService } from "#server/identity/sessions/profile.ts";
import { makeResetService } from "#server/identity/sessions/reset.ts";
import { makeSessionService } from "#server/identity/sessions/service.ts";
import { makeSignUpService } from "#server/identity/sessions/sign-up.ts";
import { makeProvider, type SsoSettings } from "#server/identity/sso/provider.ts";
import { makeSsoService } from "#server/identity/sso/service.ts";
import { makeTrips } from "#server/identity/sso/trips.ts";
import { makeTokenService } from "#server/identity/tokens/service.ts";
import { makeInvitationService } from "#server/identity/workspaces/invitations.ts";
import { makeLocalRootService } from "#server/identity/workspaces/local-roots.ts";
import { makeMyWorkspaceService } from "#server/identity/workspaces/mine.ts";
import { makeStandingInvitations } from "#server/identity/sessions/standing-invitations.ts";
import { makeQuotaKeeper, type QuotaKeeper } from "#server/identity/workspaces/quotas.ts";
import { makeLeftGrants } from "#server/identity/workspaces/left-grants.ts";
import { makeWorkspaceService } from "#server/identity/workspaces/service.ts";
import { type GuardedFetch, makeGuardedFetch } from "#net/guarded-fetch.ts";
import { makeSyncSignals } from "#core/sync-signals.ts";
import { type Foundation, makeLimit } from "./foundation.ts";

export interface IdentityOptions {
  /** Key that signs cursors; at least 32 bytes, the same after a restart. */
  cursorKey: Uint8Array;
  /**
   * Key for cookies, for proofs and the signing key of the authorization server, and for the cookies of known browsers.
   * It has at least 32 bytes and is the same after a restart.
   */
  oauthKey: Uint8Array;
  /** Key of the operator's proofs; 32 bytes, derived from the data folder's key. */
  operatorKey: Uint8Array;
  /** Fetches an OAuth client's metadata document at the client's address; uses the address guard by default. */
  fetchDocument?: GuardedFetch;
  /** Sends email. If absent, links are shown to the person who created them. */
  mailer?: Mailer;
  /** The single sign-on provider, if there is one. */
  sso?: SsoSettings;
  /** The cost of password hashes; only tests lower it. */
  passwordCosts?: PasswordCosts;
  /** Prints a new setup code to the terminal when all tries of the last one were used. */
  announceSetupCode?: (code: string) => void;
}

/** People, their workspaces, and authentication of requests. */
export type Identity = ReturnType<typeof makeIdentity>;

/**
 * Sign-ins per minute: per network, and per person in a browser where they have signed in before.
 * Source: docs/limits.md#rates.
 */
const SIGN_INS_PER_MINUTE = 10;
/** Sign-ins per account and minute over all networks, so that guessing from many networks is no faster. */
const SIGN_INS_PER_ACCOUNT = 100;
/** Onboarding and invitation requests per minute. Their secrets can't be guessed, but each try costs a hash. */
const FIRST_STEPS_PER_MINUTE = 60;
/** Requests per minute that may send an email to any address; per account, and per network address. */
const MAILS_PER_MINUTE = 5;
/** Invitations per workspace and minute. */
const INVITATIONS_PER_MINUTE = 20;

/** Wrong device codes per minute; per person, and per address. Source: S27. */
const DEVICE_CODES_PER_MINUTE = 5;

/** Builds the services for people and their credentials, and the middleware that authenticates requests. */
export function makeIdentity(foundation: Foundation, options: IdentityOptions) {
  const { store, clock, randomBytes, log, settings } = foundation;
  const cursors = makeCursorCodec(options.cursorKey, clock);
  const audit = makeAuditService({ store, clock, cursors, log });
  const quotas = makeQuotaKeeper({ store, clock, quotas: settings.quotas ?? {} });
  const tokens = makeTokenService({ store, clock, randomBytes, audit, quotas, baseUrl: settings.baseUrl });
  const people = makePeople(foundation, { cursors, audit, quotas }, options);
  const { cookie, sessions } = people;
  const oauth = makeOAuth(foundation, { cursors, audit, sessions }, options);
  const authenticator = makeAuthenticator({
    cookieName: cookie.name,
    lookup: {
      session: sessions.findActor,
      pat: tokens.findActor,
      oauth: oauth.findActor,
      connectorKey: tokens.findConnector,
      knownBrowser: people.knownBrowsers.browserIn,
    },
  });
  return {
    ...people,
    cursors,
    audit,
    quotas,
    tokens,
    oauth,
    guard: makeGuard(settings),
    idempotency: makeIdempotency({ store, clock }),
    limits: makeLimits({ mode: settings.mode, clock, isOff: settings.rateLimits === "off" }),
    authenticator: notingUses(authenticator, audit),
    localRoots: makeLocalRootService({
      store,
      clock,
      randomBytes,
      audit,
      operatorKey: options.operatorKey,
      isOpenToStrangers: isOpenToStrangers(settings),
      settingsRoots: settings.localRoots,
      dataDir: settings.dataDir,
      homeDir: settings.homeDir,
    }),
  };
}

interface Shared {
  cursors: CursorCodec;
  audit: AuditService;
  quotas: QuotaKeeper;
}

/** Builds sign-up, sign-in and workspaces. */
function makePeople(foundation: Foundation, { cursors, audit, quotas }: Shared, options: IdentityOptions) {
  const { store, clock, randomBytes, log, vault, addressGuard, settings } = foundation;
  const { baseUrl, mode, signup } = settings;
  const { mailer = NO_MAILER } = options;
  const throttles = makeThrottles(foundation);
  const afterwards = makeAfterwards({ log });
  const syncSignals = makeSyncSignals();
  const leftGrants = makeLeftGrants();
  const emit = makeOutbox({ clock, randomBytes });
  const post = makePost({ mailer, afterwards, baseUrl });
  const cookie = makeSessionCookie(baseUrl);
  const signUpCookie = makeSecretCookie(baseUrl, { onHttps: "__Host-kb-sign-up", onHttp: "kb_sign_up" });
  const knownCookie = makeSecretCookie(baseUrl, { onHttps: "__Host-kb-known", onHttp: "kb_known" });
  const accounts = makeAccountService({ clock, randomBytes, audit });
  const base = { store, clock, randomBytes, cursors, audit, baseUrl, mode, signup, afterwards, post, accounts };
  const standingInvitations = makeStandingInvitations({ store, clock, audit });
  const passwords = makePasswords(options.passwordCosts);
  const knownBrowsers = makeKnownBrowsers({ key: options.oauthKey, cookie: knownCookie, randomBytes });
  const sessions = makeSessionService({
    ...base,
    passwords,
    throttle: throttles.signIn,
    accountThrottle: throttles.signInOfAccount,
    knownBrowsers,
    cookie,
  });
  const links = makeLinkService(base);
  const signingIn = { ...base, passwords, sessions, links };
  const signUp = makeSignUpService({ ...signingIn, throttle: throttles.mail, cookie: signUpCookie });
  const sso = options.sso && {
    settings: options.sso,
    provider: makeProvider({ settings: options.sso, baseUrl, clock, fetch: makeGuardedFetch(addressGuard) }),
  };
  return {
    cookie,
    sessions,
    signUp,
    signUpCookie,
    knownBrowsers,
    accounts,
    sso: makeSsoService({
      store,
      clock,
      log,
      audit,
      sessions,
      accounts,
      standingInvitations,
      mode,
      signup,
      trips: makeTrips({ store, clock, randomBytes, vault }),
      at: sso,
      takeTry: ({ origin }) => takeTry(throttles.firstStep, origin),
    }),
    ssoCookie: makeSecretCookie(baseUrl, { onHttps: "__Host-kb-sso", onHttp: "kb_sso" }),
    /** Runs work after the response was sent. Shutdown waits for it. */
    afterwards,
    onboarding: makeOnboardingService({
      ...signingIn,
      throttle: throttles.firstStep,
      log,
      entry: { mode, signup, sso: options.sso?.name ?? null, canMail: post.canMail },
      ...defined({ announceSetupCode: options.announceSetupCode }),
    }),
    invitationAcceptance: makeAcceptService({
      ...signingIn,
      standingInvitations,
      throttle: throttles.firstStep,
    }),
    confirmations: makeConfirmService({ ...signingIn, throttle: throttles.firstStep, signUp }),
    passwordReset: makeResetService({
      ...signingIn,
      throttle: throttles.mail,
      confirmThrottle: throttles.firstStep,
    }),
    profile: makeProfileService({ ...signingIn, throttle: throttles.mail }),
    workspaces: makeWorkspaceService({
      ...base,
      syncSignals,
      leftGrants,
      instances: settings.instances,
      async reportRevoked(tx, workspaceId, connections) {
        for (const { connectionId, serverId } of connections) {
          const reason = "member_left";
          const act = actOn(connectionId, "connection.revoked");
          await audit.recordSystem(tx, workspaceId, { ...act, details: { reason } });
          await emit(tx, workspaceId, {
            type: "connection.revoked",
            data: { connectionId, serverId, code: reason },
          });
        }
      },
    }),
    /** Signals to the worker, which subscribes once it is built. */
    syncSignals,
    /** Revokes, at the providers, the grants of people who leave. */
    leftGrants,
    myWorkspaces: makeMyWorkspaceService({ ...base, addWorkspace: accounts.addWorkspace }),
    invitations: makeInvitationService({ ...base, quotas, throttle: throttles.invitation }),
    groups: makeGroupService(base),
  };
}

/** Builds the authorization server of this installation. */
function makeOAuth(
  { store, vault, clock, randomBytes, log, addressGuard, settings }: Foundation,
  { cursors, audit, sessions }: Pick<Shared, "cursors" | "audit"> & Pick<ReturnType<typeof makePeople>, "sessions">,
  options: IdentityOptions,
) {
  return makeOAuthService({
    store,
    vault,
    clock,
    randomBytes,
    log,
    audit,
    cursors,
    addressGuard,
    ...defined({ fetchDocument: options.fetchDocument }),
    takesDocuments: settings.oauthClientDocuments !== "off",
    rules: { appSchemes: new Set(settings.oauthAppSchemes) },
    baseUrl: settings.baseUrl,
    key: options.oauthKey,
    deviceThrottle: makeLimit({ clock, settings }, DEVICE_CODES_PER_MINUTE, "codes"),
    prove: (email, password, { origin = { requestId: "", clientIp: null } }) =>
      sessions.prove(email, password, { origin, userAgent: null, formerSecret: null }),
  });
}

function makeThrottles(by: Pick<Foundation, "clock" | "settings">) {
  const limit = (perMinute: number, what: string) => makeLimit(by, perMinute, what);
  return {
    signIn: limit(SIGN_INS_PER_MINUTE, "sign-ins"),
    signInOfAccount: limit(SIGN_INS_PER_ACCOUNT, "sign-ins"),
    firstStep: limit(FIRST_STEPS_PER_MINUTE, "tries"),
    mail: limit(MAILS_PER_MINUTE, "tries"),
    invitation: limit(INVITATIONS_PER_MINUTE, "invitations"),
  };
}
