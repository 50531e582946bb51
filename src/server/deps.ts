import { makeAuditService, type AuditService } from "./audit/service.ts";
import { notingUses } from "./audit/uses.ts";
import type { Features } from "./features.ts";
import { makeGroupService, type GroupService } from "./groups/service.ts";
import { makeAuthenticator, type Authenticator } from "./http/authenticate.ts";
import { makeSessionCookie, type SessionCookie } from "./http/cookies.ts";
import { makeCursorCodec, type CursorCodec } from "./http/cursor.ts";
import { makeGuard, type Guard } from "./http/guard.ts";
import { makeNoThrottle, makeThrottle } from "./http/throttle.ts";
import type { Lifecycle } from "./mcp/eras.ts";
import type { Clock, Log, RandomBytes } from "./ports/clock.ts";
import type { AddressGuard } from "./ports/network.ts";
import type { Store } from "./ports/store.ts";
import type { Vault } from "./ports/vault.ts";
import { makeAcceptService, type AcceptService } from "./sessions/accept.ts";
import { makeOnboardingService, type OnboardingService } from "./sessions/onboarding.ts";
import { makePasswords, type PasswordCosts } from "./sessions/passwords.ts";
import { makeSessionService, type SessionService } from "./sessions/service.ts";
import { makeTokenService, type TokenService } from "./tokens/service.ts";
import { makeInvitationService, type InvitationService } from "./workspaces/invitations.ts";
import { makeLocalRootService, type LocalRootService } from "./workspaces/local-roots.ts";
import { makeWorkspaceService, type WorkspaceService } from "./workspaces/service.ts";

/** What the app needs to know of the settings. */
export interface AppSettings {
  /** The one origin of links, `mcpUrl` and cookies, without a trailing slash. */
  baseUrl: string;
  mode: "self-hosted" | "managed";
  signup: "invite" | "open" | "closed";
  allowedHosts: readonly string[];
  trustedProxies: readonly string[];
  /** `KB_LOCAL_ROOTS`. */
  localRoots: readonly string[];
  dataDir: string;
  /** The home folder of who runs the server, if there is one. */
  homeDir: string | undefined;
  /** `off` is for loopback only; `config.ts` sees to it. */
  rateLimits: "on" | "off";
  /** How strictly `/mcp` keeps to two methods; see `mcp/eras.ts`. */
  mcpLifecycle: Lifecycle;
}

/** What is there before any feature. */
export interface Foundation {
  settings: AppSettings;
  store: Store;
  clock: Clock;
  log: Log;
  randomBytes: RandomBytes;
  vault: Vault;
  /** Judges every address that somebody else named before this server connects to it. */
  addressGuard: AddressGuard;
}

/** Who somebody is, and the doors. */
export interface Identity {
  guard: Guard;
  authenticator: Authenticator;
  cursors: CursorCodec;
  cookie: SessionCookie;
  audit: AuditService;
  tokens: TokenService;
  sessions: SessionService;
  onboarding: OnboardingService;
  invitationAcceptance: AcceptService;
  workspaces: WorkspaceService;
  invitations: InvitationService;
  groups: GroupService;
  localRoots: LocalRootService;
}

/** Everything the routes are hung on. Each feature appends its service here, and its `mountX` in `app.ts`. */
export interface Deps extends Foundation, Identity, Omit<Features, "close" | "warm"> {
  /** False from the moment the server shuts down; `/readyz` follows it. */
  isReady(): boolean;
}

export interface IdentityOptions extends Foundation {
  /** Signs cursors; at least 32 bytes, the same across restarts. */
  cursorKey: Uint8Array;
  /** Cheaper ones are for tests. */
  passwordCosts?: PasswordCosts;
  /** Prints a setup code to the terminal when the tries of the last one ran out. */
  announceSetupCode?: (code: string) => void;
}

/** Sign-ins a minute, per account and per address. Source: design page "api", Limits. */
const SIGN_INS_PER_MINUTE = 10;
/** Onboarding and invitations: their secrets can't be guessed, but each try costs a hash. */
const FIRST_STEPS_PER_MINUTE = 60;

/** Builds the doors and everything behind them that is about people. */
export function makeIdentity(options: IdentityOptions): Identity {
  const { store, clock, randomBytes, settings, log } = options;
  const { baseUrl, mode, signup } = settings;
  const cursors = makeCursorCodec(options.cursorKey, clock);
  const audit = makeAuditService({ store, clock, cursors, log });
  const base = { store, clock, randomBytes, cursors, audit, baseUrl };
  const cookie = makeSessionCookie(baseUrl);
  const passwords = makePasswords(options.passwordCosts);
  const limit = (perMinute: number, message: string) =>
    settings.rateLimits === "off" ? makeNoThrottle() : makeThrottle({ perMinute, clock, message });
  const throttle = limit(SIGN_INS_PER_MINUTE, "Too many sign-ins. Wait a little and try again.");
  const firstSteps = limit(FIRST_STEPS_PER_MINUTE, "Too many tries. Wait a little and try again.");

  const tokens = makeTokenService(base);
  const sessions = makeSessionService({ ...base, passwords, throttle, cookie, mode, signup });
  const { announceSetupCode } = options;
  return {
    cursors,
    audit,
    cookie,
    tokens,
    sessions,
    guard: makeGuard(settings),
    authenticator: notingUses(
      makeAuthenticator({
        cookieName: cookie.name,
        lookup: { session: sessions.findActor, pat: tokens.findActor, connectorKey: tokens.findConnector },
      }),
      audit,
    ),
    onboarding: makeOnboardingService({
      ...base,
      passwords,
      throttle: firstSteps,
      sessions,
      log,
      mode,
      ...(announceSetupCode && { announceSetupCode }),
    }),
    invitationAcceptance: makeAcceptService({ ...base, passwords, throttle: firstSteps, sessions }),
    workspaces: makeWorkspaceService(base),
    invitations: makeInvitationService(base),
    groups: makeGroupService(base),
    localRoots: makeLocalRootService({
      ...base,
      mode,
      settingsRoots: settings.localRoots,
      dataDir: settings.dataDir,
      homeDir: settings.homeDir,
    }),
  };
}
