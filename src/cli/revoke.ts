/** Ends a stored login at its server. */
import { makeApi } from "./api.ts";
import type { StoredLogin } from "./credentials.ts";
import type { Deps } from "./deps.ts";
import { CliFailure } from "./failure.ts";
import { isOfOrigin } from "./oauth/metadata.ts";
import { revokeToken } from "./oauth/tokens.ts";
import type { Settings } from "./settings.ts";

/** Ends everything stored at the server; returns the first failure that leaves part of it active. */
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
      if (!(error instanceof CliFailure)) throw error;
      first ??= error;
    }
  }
  return first;
}

/** The refresh token ends the whole grant; admin rights are a separate grant. */
async function revokeOAuth(deps: Deps, { server }: Settings, { oauth, admin }: StoredLogin): Promise<void> {
  const endpoint = oauth?.revocationEndpoint ?? `${server.baseUrl}/oauth/revoke`;
  if (!isOfOrigin(endpoint, server.origin)) return;
  if (oauth !== undefined) await revokeToken(deps, endpoint, oauth.refreshToken);
  if (admin !== undefined && admin.expiresAt > deps.clock.now()) await revokeToken(deps, endpoint, admin.token);
}

async function revokeSession(deps: Deps, settings: Settings, { mcpToken, session }: StoredLogin): Promise<void> {
  if (session === undefined) return;
  const api = makeApi(deps, settings, { kind: "session", value: session, from: "the stored login", login: "password" });
  try {
    if (mcpToken !== undefined) await api.delete("/api/api-tokens/{id}", { params: { path: { id: mcpToken.id } } });
    await api.delete("/api/session");
  } catch (error) {
    // An expired session leaves only the token to revoke, which then needs a new login.
    const isOver = error instanceof CliFailure && error.code === "unauthenticated" && mcpToken === undefined;
    if (!isOver) throw error;
  }
}
