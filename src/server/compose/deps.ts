import type { ApiError } from "#api/errors.ts";
import { makeAuditService, type AuditService } from "#server/identity/audit/service.ts";
import { notingUses } from "#server/identity/audit/uses.ts";
import { isOpenToStrangers } from "#server/config.ts";
import type { Features } from "./content.ts";
import { makeAuthenticator, type Authenticator } from "#server/http/authenticate.ts";
import { makeCursorCodec, type CursorCodec } from "#server/http/cursor.ts";
import { makeGuard, type Guard } from "#server/http/guard.ts";
import { makeIdempotency, type Idempotency } from "#server/http/idempotency.ts";
import { makeLimits, type Limits } from "#server/http/limits.ts";
import { makeNoThrottle, makeThrottle } from "#server/http/throttle.ts";
import type { Lifecycle } from "#server/mcp/eras.ts";
import { makeOAuthService, type OAuthService } from "#server/identity/oauth/service.ts";
import { makePeople, type People } from "./identity.ts";
import type { Clock, RandomBytes } from "#core/clock.ts";
import type { Log } from "#core/log.ts";
import type { Mailer } from "#server/identity/mail/mailer.ts";
import type { AddressGuard } from "#net/address-guard.ts";
import { type QuotaKeeper, type Quotas, makeQuotaKeeper } from "#server/identity/workspaces/quotas.ts";
import type { Store } from "#storage/store-type.ts";
import type { Vault } from "#storage/vault.ts";
import type { PasswordCosts } from "#server/identity/sessions/passwords.ts";
import type { SsoSettings } from "#server/identity/sso/provider.ts";
import { makeTokenService, type TokenService } from "#server/identity/tokens/service.ts";
import { makeLocalRootService, type LocalRootService } from "#server/identity/workspaces/local-roots.ts";

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
  /** What a workspace may hold; absent and {} = as much as there is. */
  quotas?: Partial<Quotas>;
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
export interface Identity extends People {
  guard: Guard;
  limits: Limits;
  quotas: QuotaKeeper;
  idempotency: Idempotency;
  authenticator: Authenticator;
  cursors: CursorCodec;
  audit: AuditService;
  tokens: TokenService;
  oauth: OAuthService;
  localRoots: LocalRootService;
}

/** Everything the routes are hung on. Each feature appends its service here, and its `mountX` in `app.ts`. */
export interface Deps extends Foundation, Identity, Omit<Features, "close" | "warm"> {
  /** False from the moment the server shuts down; `/readyz` follows it. */
  isReady(): boolean;
  /** Whether records can be stored and read; `/readyz` follows it. */
  storage: { findFault(): Promise<ApiError | undefined> };
}

export interface IdentityOptions extends Foundation {
  /** Signs cursors; at least 32 bytes, the same across restarts. */
  cursorKey: Uint8Array;
  /** Cookies, proofs and the signing key of the authorization server; at least 32 bytes, the same across restarts. */
  oauthKey: Uint8Array;
  /** Fetches what an OAuth client says of itself at its own address; through the guard unless told. */
  fetchDocument?: (url: string) => Promise<Response>;
  /** What carries e-mail; without it links are shown to who made them. */
  mailer?: Mailer;
  /** The provider of single sign-on, if there is one. */
  sso?: SsoSettings;
  /** Cheaper ones are for tests. */
  passwordCosts?: PasswordCosts;
  /** Prints a setup code to the terminal when the tries of the last one ran out. */
  announceSetupCode?: (code: string) => void;
}

/** Wrong codes of devices that a person, or an address, may type. Source: S27. */
const DEVICE_CODES_PER_MINUTE = 5;

/** Builds the doors and everything behind them that is about people. */
export function makeIdentity(options: IdentityOptions): Identity {
  const { store, clock, randomBytes, settings, log } = options;
  const { baseUrl, mode } = settings;
  const cursors = makeCursorCodec(options.cursorKey, clock);
  const audit = makeAuditService({ store, clock, cursors, log });
  const quotas = makeQuotaKeeper({ store, clock, quotas: settings.quotas ?? {} });
  const base = { store, clock, randomBytes, cursors, audit, quotas, baseUrl };
  const tokens = makeTokenService(base);
  const people = makePeople({ ...options, cursors, audit, quotas, browserKey: options.oauthKey });
  const { cookie, sessions } = people;
  const oauth = makeOAuthService({
    ...options,
    ...base,
    key: options.oauthKey,
    deviceThrottle:
      settings.rateLimits === "off"
        ? makeNoThrottle()
        : makeThrottle({ perMinute: DEVICE_CODES_PER_MINUTE, clock, message: "Too many codes. Wait a little." }),
    prove: (email, password, { origin = { requestId: "", clientIp: null } }) =>
      sessions.prove(email, password, { origin, userAgent: null, formerSecret: null }),
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
    limits: makeLimits({ mode, clock, isOff: settings.rateLimits === "off" }),
    authenticator: notingUses(
      makeAuthenticator({
        cookieName: cookie.name,
        lookup: {
          session: sessions.findActor,
          pat: tokens.findActor,
          oauth: oauth.findActor,
          connectorKey: tokens.findConnector,
        },
      }),
      audit,
    ),
    localRoots: makeLocalRootService({
      ...base,
      isOpenToStrangers: isOpenToStrangers(settings),
      settingsRoots: settings.localRoots,
      dataDir: settings.dataDir,
      homeDir: settings.homeDir,
    }),
  };
}
