/** Ends a stored login at its server. */
import { sessionApi } from "#cli/calls/api.ts";
import type { StoredLogin } from "#cli/login/credentials.ts";
import type { Deps } from "#cli/host/deps.ts";
import { isFailure, type CliFailure } from "#cli/host/failure.ts";
import { isOfOrigin } from "./metadata.ts";
import { revokeToken } from "#cli/login/tokens.ts";
import type { Settings } from "#cli/login/settings.ts";

/** Ends everything stored for the server; returns the first failure that leaves part of it active. */
export async function revokeStored(
  deps: Deps,
  settings: Settings,
  stored: StoredLogin,
): Promise<CliFailure | undefined> {
  const acts = [() => revokeOAuth(deps, settings, stored), () => revokeSession(deps, settings, stored)];
  let first: CliFailure | undefined;
  for (const act of acts) {
    try {
      await act();
    } catch (error) {
      if (!isFailure(error)) throw error;
      first ??= error;
    }
  }
  return first;
}

/** Revoking the refresh token ends the whole grant; admin rights are a separate grant. */
async function revokeOAuth(deps: Deps, { server }: Settings, { oauth, admin }: StoredLogin): Promise<void> {
  const endpoint = oauth?.revocationEndpoint ?? `${server.baseUrl}/oauth/revoke`;
  if (!isOfOrigin(endpoint, server.origin)) return;
  if (oauth !== undefined) await revokeToken(deps, endpoint, oauth.refreshToken);
  if (admin !== undefined && admin.expiresAt > deps.clock.now()) await revokeToken(deps, endpoint, admin.token);
}

async function revokeSession(deps: Deps, settings: Settings, { mcpToken, session }: StoredLogin): Promise<void> {
  if (session === undefined) return;
  const api = sessionApi(deps, settings, session);
  try {
    if (mcpToken !== undefined) await api.delete("/api/api-tokens/{id}", { params: { path: { id: mcpToken.id } } });
    await api.delete("/api/session");
  } catch (error) {
    // If the session has expired, only the token is left to revoke, which requires a new login.
    if (!isFailure(error, "unauthenticated") || mcpToken !== undefined) throw error;
  }
}
