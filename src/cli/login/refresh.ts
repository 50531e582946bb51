/** Renews access tokens of the stored login. Only one process at a time renews, and the others use the result. */
import { canParseUrl } from "#api/parse-url.ts";
import type { ServerUrl } from "#api/server-url.ts";
import {
  usableAccess,
  type AccessToken,
  type CredentialStore,
  type FoundAccess,
  type OAuthLogin,
  type Purpose,
  type StoredLogin,
} from "./credentials.ts";
import { isoOf } from "#core/instant.ts";
import { CliFailure, failure, notSignedIn } from "#cli/host/failure.ts";
import { isUnwritable } from "#cli/host/state-file.ts";
import { requestTokens, type TokenAnswer, type TokenDeps } from "./tokens.ts";

/** Returns the resource that a token for this audience is bound to. Source: RFC 8707. */
export function resourceOf(server: ServerUrl, purpose: Purpose): string {
  return purpose === "mcp" ? server.mcpUrl : `${server.baseUrl}/api`;
}

/**
 * Returns a token for `purpose` from the login stored for the server: a token that another process has just fetched, otherwise a new one. Undefined
 * when no OAuth login is stored there. If the login can't be written, it isn't renewed, and the existing token is used until it expires: the server
 * would end the login when the used refresh token is presented again. Source: S83.
 *
 * @param refused a token that the server has just rejected: another one is needed
 * @throws CliFailure 4 when the login has ended, 7 when the server can't be reached and no usable token is left, 1 (`login_not_kept`) when it can't
 * be stored and none is left
 */
export async function renewAccess(
  deps: TokenDeps,
  store: CredentialStore,
  server: ServerUrl,
  purpose: Purpose,
  refused?: string,
): Promise<FoundAccess | undefined> {
  try {
    return await store.exclusively(server.origin, async () => {
      const login = await store.find(server.origin);
      if (login?.oauth === undefined) return undefined;
      const { oauth } = login;
      const kept = usableAccess(oauth, purpose, refused, deps.clock.now());
      return kept ?? (await renew(deps, store, server, purpose, { ...login, oauth }, refused));
    });
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    const left = leftOf((await store.find(server.origin))?.oauth, purpose, refused, deps.clock.now());
    if (left === undefined) throw notKept(server, error);
    return { ...left, warning: lastsUntil(server, left, error) };
  }
}

/**
 * Adds the result of a token request to the login: the rotated refresh token, and the access token in its place. Both must be stored before anything
 * else happens, because the previous refresh token is no longer valid.
 */
export function withAnswer(oauth: OAuthLogin, purpose: Purpose, answer: TokenAnswer): OAuthLogin {
  return {
    ...oauth,
    refreshToken: answer.refreshToken ?? oauth.refreshToken,
    // Each token lists its own scopes; the login has the scopes of all its tokens.
    scopes: [...new Set([...oauth.scopes, ...(answer.scopes ?? [])])],
    [purpose]: { token: answer.accessToken, expiresAt: answer.expiresAt },
  };
}

async function renew(
  deps: TokenDeps,
  store: CredentialStore,
  server: ServerUrl,
  purpose: Purpose,
  login: StoredLogin & { oauth: OAuthLogin },
  refused: string | undefined,
): Promise<FoundAccess> {
  const { oauth } = login;
  // Tests that the login can be written. Otherwise the write could fail after the server has invalidated the refresh token.
  await store.save(server.origin, login);
  let answer: TokenAnswer;
  try {
    answer = await requestTokens(deps, endpointOf(oauth, server), {
      grant_type: "refresh_token",
      refresh_token: oauth.refreshToken,
      resource: resourceOf(server, purpose),
    });
  } catch (error) {
    const left = leftOf(oauth, purpose, refused, deps.clock.now());
    if (!(error instanceof CliFailure)) throw error;
    if (error.code === "invalid_grant") throw await ended(store, server, login);
    // The server is down, and the old token is valid for a few more seconds.
    if (left !== undefined) return left;
    throw error;
  }
  const oauthNow = withAnswer(oauth, purpose, answer);
  const access = { token: answer.accessToken, expiresAt: answer.expiresAt };
  try {
    await store.save(server.origin, { ...login, oauth: oauthNow });
    return access;
  } catch (error) {
    // The folder was writable a moment ago, so other errors are real failures.
    if (!isUnwritable(error)) throw error;
    return { ...access, warning: lastsUntil(server, access, error) };
  }
}

/** Returns a token in its last seconds, which can no longer begin a long call. */
function leftOf(
  oauth: OAuthLogin | undefined,
  purpose: Purpose,
  refused: string | undefined,
  now: number,
): AccessToken | undefined {
  const left = oauth?.[purpose];
  return left !== undefined && left.token !== refused && left.expiresAt > now ? left : undefined;
}

function lastsUntil(server: ServerUrl, access: AccessToken, error: CliFailure): string {
  return `kb can't renew your login to ${server.baseUrl}, which lasts until ${isoOf(access.expiresAt)}: ${error.message} ${error.hint ?? ""}`;
}

function notKept(server: ServerUrl, error: CliFailure): CliFailure {
  return failure(
    "failure",
    "login_not_kept",
    `kb can't renew your login to ${server.baseUrl}: ${error.message}`,
    error.hint,
    { cause: error },
  );
}

/** Deletes a login that the server no longer accepts; the person signs in again. */
async function ended(store: CredentialStore, server: ServerUrl, login: StoredLogin): Promise<CliFailure> {
  const { oauth: _ended, ...rest } = login;
  if (rest.session === undefined && rest.apiToken === undefined && rest.admin === undefined) {
    await store.remove(server.origin);
  } else await store.save(server.origin, rest);
  return notSignedIn(
    `Your sign-in to ${server.baseUrl} has ended: it was revoked, or not used for a long time.`,
    `Sign in again: kb login ${server.baseUrl}`,
  );
}

/** The file is the person's own, but even so a refresh token is sent only to its own origin. Source: S48. */
function endpointOf(oauth: OAuthLogin, server: ServerUrl): string {
  const { tokenEndpoint } = oauth;
  if (canParseUrl(tokenEndpoint) && new URL(tokenEndpoint).origin === server.origin) return tokenEndpoint;
  throw notSignedIn(
    `The stored login of ${server.baseUrl} names a token address on another server, so kb does not use it.`,
    `Sign in again: kb login ${server.baseUrl}`,
  );
}
