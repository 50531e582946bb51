import * as oidc from "openid-client";
import { Email, PersonName } from "#api/session.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import { type ConfiguredPlaces, configuredPlaces } from "#net/configured-places.ts";
import type { GuardedFetch } from "#net/guarded-fetch.ts";
import type { Clock } from "#core/clock.ts";

/** The settings of the single sign-on provider. */
export interface SsoSettings {
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  /** The provider's name on the sign-in button. */
  name: string;
  /** Domains whose addresses are treated as verified if the provider reports them as verified; in lower-case ASCII. */
  domains: readonly string[];
}

/** The values that bind the authorization request to its callback. */
export interface Trip {
  state: string;
  nonce: string;
  verifier: string;
}

/** The identity that the provider reports. */
export interface ProvenIdentity {
  issuer: string;
  subject: string;
  /** The address that the provider reports for the person. Null if it reports no valid one. */
  email: string | null;
  isEmailVerified: boolean;
  name: string | null;
}

/**
 * The single sign-on provider, by OpenID Connect. It uses the code flow with PKCE; state, nonce and issuer are checked.
 */
export interface Provider {
  /** Returns the address to which the browser is redirected. @throws ApiError `source_unavailable` */
  addressFor(trip: Trip): Promise<string>;
  /**
   * Redeems the code in the callback.
   *
   * @param query the callback's query, unchanged
   * @throws ApiError `sso_failed`; `source_unavailable` if the provider can't be reached
   */
  redeem(query: string, trip: Trip): Promise<ProvenIdentity>;
}

const TIMEOUT_MS = 8_000;
const MAX_BYTES = 1024 * 1024;
/** Milliseconds after which metadata and keys are fetched again. */
const METADATA_LIFETIME_MS = 3_600_000;

export function makeProvider(options: {
  settings: SsoSettings;
  baseUrl: string;
  clock: Clock;
  /** Fetches through the address guard. */
  fetch: GuardedFetch;
}): Provider {
  const { settings, clock } = options;
  const redirectUri = `${options.baseUrl}/api/sso/callback`;
  const fetch = toFetch(options.fetch, configuredPlaces([settings.issuer]));
  let kept: { until: number; configuration: Promise<oidc.Configuration> } | undefined;

  function configure(): Promise<oidc.Configuration> {
    if (kept !== undefined && kept.until > clock.now()) return kept.configuration;
    const configuration = discover(settings, fetch);
    const mine = { until: clock.now() + METADATA_LIFETIME_MS, configuration };
    kept = mine;
    // If loading fails, the next visitor tries again.
    configuration.catch(() => void (kept === mine && (kept = undefined)));
    return configuration;
  }

  return {
    async addressFor({ state, nonce, verifier }) {
      const configuration = await configure().catch(unreachable);
      const address = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        response_type: "code",
        scope: "openid email profile",
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      return address.href;
    },

    async redeem(query, { state, nonce, verifier }) {
      const configuration = await configure().catch(unreachable);
      try {
        const tokens = await oidc.authorizationCodeGrant(configuration, new URL(`${redirectUri}?${query}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (!claims) throw new Error("The provider returned no ID token.");
        // Many providers return the address only from the userinfo endpoint.
        const isWhole = claims["email"] !== undefined || !configuration.serverMetadata().userinfo_endpoint;
        const more = isWhole ? {} : await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub);
        return toIdentity(claims.iss, claims.sub, { ...more, ...claims });
      } catch (cause) {
        if (isUnreachable(cause)) return unreachable(cause);
        // Anyone may have written the text that the provider returned, so none of it is shown.
        throw new ApiError("sso_failed", { message: "The identity provider's response is not valid.", cause });
      }
    },
  };
}

async function discover(settings: SsoSettings, fetch: oidc.CustomFetch): Promise<oidc.Configuration> {
  const issuer = new URL(settings.issuer);
  // Plain HTTP is possible only on loopback, since the settings accept no other issuer with it.
  const execute = issuer.protocol === "http:" ? [oidc.allowInsecureRequests] : [];
  const timeout = TIMEOUT_MS / 1_000;
  const found = await oidc.discovery(issuer, settings.clientId, undefined, oidc.None(), {
    execute,
    timeout,
    [oidc.customFetch]: fetch,
  });
  const metadata = found.serverMetadata();
  const configuration = new oidc.Configuration(
    metadata,
    settings.clientId,
    undefined,
    authenticationOf(settings, metadata),
  );
  configuration.timeout = timeout;
  configuration[oidc.customFetch] = fetch;
  for (const change of execute) change(configuration);
  // The signature is checked even though the provider itself sent the token over TLS.
  oidc.enableNonRepudiationChecks(configuration);
  return configuration;
}

function authenticationOf({ clientSecret }: SsoSettings, metadata: oidc.ServerMetadata): oidc.ClientAuth {
  if (clientSecret === undefined) return oidc.None();
  // Basic is the default for providers that list no method. Source: OpenID Connect Discovery 1.0 §3.
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic")
    ? oidc.ClientSecretBasic(clientSecret)
    : oidc.ClientSecretPost(clientSecret);
}

/**
 * Sends every request of the library through the address guard, without redirects and with a size limit on responses.
 * The operator named the issuer. Addresses in its metadata are allowed if they are public, or have the same host and
 * port.
 */
function toFetch(fetch: GuardedFetch, configured: ConfiguredPlaces): oidc.CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const answer = await fetch(url, {
      method,
      headers,
      // The library sends only forms.
      ...(body !== undefined && body !== null && { body: Buffer.from(String(body)) }),
      configured,
      signal: signal ?? AbortSignal.timeout(TIMEOUT_MS),
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
    const pairs = Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [value].flat().map((one) => [name, one]),
    );
    const isEmpty = answer.status === 204 || answer.status === 304;
    return new Response(isEmpty ? null : Buffer.from(answer.body), { status: answer.status, headers: pairs });
  };
}

function toIdentity(issuer: string, subject: string, claims: Record<string, unknown>): ProvenIdentity {
  const email = Email.safeParse(claims["email"]);
  const name = PersonName.safeParse(claims["name"]);
  return {
    issuer,
    subject,
    email: email.success ? email.data : null,
    // The value must be exactly true, since some providers send strings. Source: S3.
    isEmailVerified: claims["email_verified"] === true,
    name: name.success ? name.data : null,
  };
}

/** openid-client wraps the errors of `fetch`. */
function isUnreachable(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isApiError(at, "source_unavailable") || isApiError(at, "address_not_allowed")) return true;
    if (at.name === "TimeoutError" || at.name === "AbortError") return true;
  }
  return false;
}

function unreachable(cause: unknown): never {
  throw new ApiError("source_unavailable", {
    message: "The identity provider can't be reached now. Try again in a minute.",
    hint: "The operator of this server can check KB_OIDC_ISSUER, and KB_ALLOW_PRIVATE_HOSTS if its address is private.",
    cause,
  });
}
