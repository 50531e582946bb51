import type { EntryState } from "#api/session.ts";
import { makeGroupService, type GroupService } from "#server/identity/groups/service.ts";
import { makeSecretCookie, makeSessionCookie, type SecretCookie, type SessionCookie } from "#server/http/cookies.ts";
import type { CursorCodec } from "#server/http/cursor.ts";
import { makeGuardedFetch } from "#net/guarded-fetch.ts";
import { makeNoThrottle, makeThrottle, type Throttle } from "#server/http/throttle.ts";
import { makeAfterwards, type Afterwards } from "#server/identity/mail/afterwards.ts";
import { makePost, NO_MAILER } from "#server/identity/mail/post.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Clock, RandomBytes } from "#core/clock.ts";
import type { Log } from "#core/log.ts";
import type { Mailer } from "#server/identity/mail/mailer.ts";
import type { AddressGuard } from "#net/address-guard.ts";
import type { QuotaKeeper } from "#server/identity/workspaces/quotas.ts";
import type { Store } from "#storage/store-type.ts";
import { makeSyncStops, type SyncStops } from "#core/sync-stops.ts";
import type { Vault } from "#storage/vault.ts";
import { makeAcceptService, type AcceptService } from "#server/identity/sessions/accept.ts";
import { makeAccountService, type AccountService } from "#server/identity/sessions/accounts.ts";
import { makeConfirmService, type ConfirmService } from "#server/identity/sessions/confirm.ts";
import { makeKnownBrowsers, type KnownBrowsers } from "#server/identity/sessions/known-browsers.ts";
import { makeLinkService } from "#server/identity/sessions/links.ts";
import { makeOnboardingService, type OnboardingService } from "#server/identity/sessions/onboarding.ts";
import { makePasswords, type PasswordCosts } from "#server/identity/sessions/passwords.ts";
import { makeProfileService, type ProfileService } from "#server/identity/sessions/profile.ts";
import { makeResetService, type ResetService } from "#server/identity/sessions/reset.ts";
import { makeSessionService, type SessionService } from "#server/identity/sessions/service.ts";
import { makeSignUpService, type SignUpService } from "#server/identity/sessions/sign-up.ts";
import { takeTry } from "#server/identity/sessions/doors.ts";
import { makeProvider, type SsoSettings } from "#server/identity/sso/provider.ts";
import { makeSsoService, type SsoService } from "#server/identity/sso/service.ts";
import { makeTrips } from "#server/identity/sso/trips.ts";
import { makeInvitationService, type InvitationService } from "#server/identity/workspaces/invitations.ts";
import { makeMyWorkspaceService, type MyWorkspaceService } from "#server/identity/workspaces/mine.ts";
import { makeWorkspaceService, type WorkspaceService } from "#server/identity/workspaces/service.ts";

/** How people come in, and what they are in. */
export interface People {
  cookie: SessionCookie;
  sessions: SessionService;
  accounts: AccountService;
  onboarding: OnboardingService;
  invitationAcceptance: AcceptService;
  signUp: SignUpService;
  signUpCookie: SecretCookie;
  knownBrowsers: KnownBrowsers;
  confirmations: ConfirmService;
  passwordReset: ResetService;
  profile: ProfileService;
  sso: SsoService;
  ssoCookie: SecretCookie;
  workspaces: WorkspaceService;
  myWorkspaces: MyWorkspaceService;
  invitations: InvitationService;
  groups: GroupService;
  /** Ends syncs of people who leave. */
  syncStops: SyncStops;
  /** What runs after answers; the end of the process waits for it. */
  afterwards: Afterwards;
}

export interface PeopleOptions {
  store: Store;
  clock: Clock;
  randomBytes: RandomBytes;
  log: Log;
  cursors: CursorCodec;
  audit: AuditRecorder;
  quotas: QuotaKeeper;
  settings: Pick<EntryState, "mode" | "signup"> & { baseUrl: string; rateLimits: "on" | "off" };
  /** What carries e-mail; without it links are shown to who made them. */
  mailer?: Mailer | undefined;
  /** The provider of single sign-on, if there is one. */
  sso?: SsoSettings | undefined;
  vault: Vault;
  /** Signs the cookies of browsers in which somebody has signed in. */
  browserKey: Uint8Array;
  /** Judges the addresses of the provider. */
  addressGuard: AddressGuard;
  passwordCosts?: PasswordCosts | undefined;
  announceSetupCode?: ((code: string) => void) | undefined;
}

/** Sign-ins a minute, per network, and per person in a browser that is known for them. Source: design page "api", Limits. */
const SIGN_INS_PER_MINUTE = 10;
/** And per account over all networks: guessing from many at once is no faster than this. */
const SIGN_INS_PER_ACCOUNT = 100;
/** Onboarding and invitations: their secrets can't be guessed, but each try costs a hash. */
const FIRST_STEPS_PER_MINUTE = 60;
/** What may send a message to an address that somebody names, per account and per address of the network. */
const MAILS_PER_MINUTE = 5;
/** Invitations of a workspace. */
const INVITATIONS_PER_MINUTE = 20;

export function makePeople(options: PeopleOptions): People {
  const { store, clock, randomBytes, log, cursors, audit, mailer = NO_MAILER } = options;
  const { baseUrl, mode, signup } = options.settings;
  const limits = makeLimits(options);
  const afterwards = makeAfterwards({ log });
  const syncStops = makeSyncStops();
  const post = makePost({ mailer, afterwards, baseUrl });
  const cookie = makeSessionCookie(baseUrl);
  const signUpCookie = makeSecretCookie(baseUrl, { onHttps: "__Host-kb-sign-up", onHttp: "kb_sign_up" });
  const accounts = makeAccountService({ clock, randomBytes, audit });
  const base = { store, clock, randomBytes, cursors, audit, baseUrl, mode, signup, afterwards, post, accounts };
  const passwords = makePasswords(options.passwordCosts);
  const knownCookie = makeSecretCookie(baseUrl, { onHttps: "__Host-kb-known", onHttp: "kb_known" });
  const knownBrowsers = makeKnownBrowsers({ key: options.browserKey, cookie: knownCookie, randomBytes });
  const sessions = makeSessionService({
    ...base,
    passwords,
    throttle: limits.signIn,
    accountThrottle: limits.signInOfAccount,
    knownBrowsers,
    cookie,
  });
  const links = makeLinkService(base);
  const door = { ...base, passwords, sessions, links };
  const signUp = makeSignUpService({ ...door, throttle: limits.mail, cookie: signUpCookie });
  return {
    cookie,
    sessions,
    signUp,
    signUpCookie,
    knownBrowsers,
    accounts,
    sso: makeSso({ ...options, audit, sessions, accounts, throttle: limits.firstStep }),
    ssoCookie: makeSecretCookie(baseUrl, { onHttps: "__Host-kb-sso", onHttp: "kb_sso" }),
    afterwards,
    onboarding: makeOnboardingService({
      ...door,
      throttle: limits.firstStep,
      log,
      entry: { mode, signup, sso: options.sso?.name ?? null, canMail: post.canMail },
      ...(options.announceSetupCode && { announceSetupCode: options.announceSetupCode }),
    }),
    invitationAcceptance: makeAcceptService({ ...door, throttle: limits.firstStep }),
    confirmations: makeConfirmService({ ...door, throttle: limits.firstStep, signUp }),
    passwordReset: makeResetService({ ...door, throttle: limits.mail, confirmThrottle: limits.firstStep }),
    profile: makeProfileService({ ...door, throttle: limits.mail }),
    workspaces: makeWorkspaceService({ ...base, syncStops }),
    syncStops,
    myWorkspaces: makeMyWorkspaceService({ ...base, addWorkspace: accounts.addWorkspace }),
    invitations: makeInvitationService({ ...base, quotas: options.quotas, throttle: limits.invitation }),
    groups: makeGroupService(base),
  };
}

function makeSso(options: PeopleOptions & Pick<People, "sessions" | "accounts"> & { throttle: Throttle }): SsoService {
  const { settings, sso, addressGuard, throttle } = options;
  const { baseUrl, mode, signup } = settings;
  const fetch = makeGuardedFetch(addressGuard);
  return makeSsoService({
    ...options,
    mode,
    signup,
    trips: makeTrips(options),
    at: sso && { settings: sso, provider: makeProvider({ ...options, settings: sso, baseUrl, fetch }) },
    takeTry: ({ origin }) => takeTry(throttle, origin),
  });
}

function makeLimits({ clock, settings }: Pick<PeopleOptions, "clock" | "settings">) {
  const limit = (perMinute: number, what: string) =>
    settings.rateLimits === "off"
      ? makeNoThrottle()
      : makeThrottle({ perMinute, clock, message: `Too many ${what}. Wait a little and try again.` });
  return {
    signIn: limit(SIGN_INS_PER_MINUTE, "sign-ins"),
    signInOfAccount: limit(SIGN_INS_PER_ACCOUNT, "sign-ins"),
    firstStep: limit(FIRST_STEPS_PER_MINUTE, "tries"),
    mail: limit(MAILS_PER_MINUTE, "tries"),
    invitation: limit(INVITATIONS_PER_MINUTE, "invitations"),
  };
}
