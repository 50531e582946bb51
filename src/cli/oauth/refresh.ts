/** New access tokens for the stored login, fetched by one process for all. */
import { canParseUrl } from "#api/parse-url.ts";
import type { ServerUrl } from "#api/server-url.ts";
import {
  usableAccess,
  type AccessToken,
  type CredentialStore,
  type OAuthLogin,
  type Purpose,
  type StoredLogin,
} from "#cli/credentials.ts";
import { CliFailure, notSignedIn } from "#cli/failure.ts";
import { requestTokens, type TokenAnswer, type TokenDeps } from "./tokens.ts";

/** The resource that a token for this audience is bound to. Source: RFC 8707. */
export function resourceOf(server: ServerUrl, purpose: Purpose): string {
  return purpose === "mcp" ? server.mcpUrl : `${server.baseUrl}/api`;
}

/**
 * A token for `purpose` from the login stored for the server: what another process fetched meanwhile, else a new one.
 * Undefined when no OAuth login is stored there.
 *
 * @param refused a token that the server has just refused: another one is needed
 * @throws CliFailure 4 when the login has ended, 7 when the server can't be asked and no usable token is left
 */
export async function renewAccess(
  deps: TokenDeps,
  store: CredentialStore,
  server: ServerUrl,
  purpose: Purpose,
  refused?: string,
): Promise<AccessToken | undefined> {
  return await store.exclusively(server.origin, async () => {
    const login = await store.find(server.origin);
    if (login?.oauth === undefined) return undefined;
    const { oauth } = login;
    const kept = usableAccess(oauth, purpose, refused, deps.clock.now());
    return kept ?? (await renew(deps, store, server, purpose, { ...login, oauth }, refused));
  });
}

/**
 * The login with what a token request gave: the rotated refresh token, and the access token in its place. Both must be
 * stored before anything else happens, for the former refresh token is used up.
 */
export function withAnswer(oauth: OAuthLogin, purpose: Purpose, answer: TokenAnswer): OAuthLogin {
  return {
    ...oauth,
    refreshToken: answer.refreshToken ?? oauth.refreshToken,
    // Each token says what it opens; together they are what the login may.
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
): Promise<AccessToken> {
  const { oauth } = login;
  let answer: TokenAnswer;
  try {
    answer = await requestTokens(deps, endpointOf(oauth, server), {
      grant_type: "refresh_token",
      refresh_token: oauth.refreshToken,
      resource: resourceOf(server, purpose),
    });
  } catch (error) {
    const left = oauth[purpose];
    const isLeft = left !== undefined && left.token !== refused && left.expiresAt > deps.clock.now();
    if (!(error instanceof CliFailure)) throw error;
    if (error.code === "invalid_grant") throw await ended(store, server, login);
    // The server is away, and the old token has its last seconds.
    if (isLeft) return left;
    throw error;
  }
  const oauthNow = withAnswer(oauth, purpose, answer);
  await store.save(server.origin, { ...login, oauth: oauthNow });
  return { token: answer.accessToken, expiresAt: answer.expiresAt };
}

/** Forgets a login that the server no longer takes; the person signs in again. */
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

/** The file is the person's own, and still a refresh token goes to no other origin than its own. Source: S48. */
function endpointOf(oauth: OAuthLogin, server: ServerUrl): string {
  const { tokenEndpoint } = oauth;
  if (canParseUrl(tokenEndpoint) && new URL(tokenEndpoint).origin === server.origin) return tokenEndpoint;
  throw notSignedIn(
    `The stored login of ${server.baseUrl} names a token address on another server, so kb does not use it.`,
    `Sign in again: kb login ${server.baseUrl}`,
  );
}
