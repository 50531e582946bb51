import { makeApi } from "#cli/api.ts";
import type { CommandInput } from "#cli/command.ts";
import { makeCredentialStore, type CredentialStore, type StoredLogin } from "#cli/credentials.ts";
import type { Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { CliFailure } from "#cli/failure.ts";
import { isOfOrigin } from "#cli/oauth/metadata.ts";
import { revokeToken } from "#cli/oauth/tokens.ts";
import { noticesOf } from "#cli/notices.ts";
import { makeOutput } from "#cli/output.ts";
import { findCredential, getCredential, loadSettings, type Credential, type Settings } from "#cli/settings.ts";

/** `kb logout`: ends the login at the server first, then forgets it, whatever the server said. */
export async function logout(input: CommandInput, deps: Deps): Promise<number> {
  const settings = await loadSettings(deps, input.options);
  const store = makeCredentialStore(deps);
  const { origin, baseUrl } = settings.server;
  const output = makeOutput(input, deps);
  const found = await store.exclusively(origin, async () => {
    const { stored, failure: unread } = await findOrFail(store, origin);
    if (stored === undefined && unread === undefined) return undefined;
    const failure = unread ?? (stored && (await revokeStored(deps, settings, stored)));
    await store.remove(origin);
    return { failure, isGivenToken: stored?.apiToken !== undefined };
  });
  if (found === undefined) {
    output.talk(`Nobody is signed in to ${baseUrl} here.`);
    return EXIT.ok;
  }
  if (found.failure !== undefined) throw notRevoked(baseUrl, found.failure);
  output.talk(`Signed out of ${baseUrl}.`);
  if (found.isGivenToken) output.talk("The token still works elsewhere; revoke it in Settings, MCP access.");
  return EXIT.ok;
}

/** `kb whoami` */
export async function whoami(input: CommandInput, deps: Deps): Promise<number> {
  const settings = await loadSettings(deps, input.options);
  const credential = await getCredential(deps, settings, "api").catch(async (error: unknown) => {
    // A login for the tools alone has nothing for the REST.
    const tools = await findCredential(deps, settings, "mcp");
    if (tools === undefined) throw error;
    return tools;
  });
  const api = makeApi(deps, settings, credential);
  const session = await api.get("/api/session").catch((error: unknown) => {
    if (error instanceof CliFailure && error.code === "insufficient_scope") return undefined;
    throw error;
  });
  const output = makeOutput(input, deps, settings.defaults);
  const { server } = settings;
  const about: [string, unknown][] = [
    ["server", server.baseUrl],
    ["mcp url", server.mcpUrl],
    ["credential", describeCredential(credential)],
    ["profile", settings.serverFrom === "profile" ? (settings.profile ?? "") : ""],
  ];
  if (session === undefined) {
    const scopes = ["mcp:read"];
    output.result({ scopes }, () => output.record([["scopes", scopes], ...about]));
    output.talk("This token is for the search tools only, so the server does not say whose it is.");
    return EXIT.ok;
  }
  output.result(session, () =>
    output.record([
      ["user", session.user.name],
      ["email", session.user.email],
      ["role", session.role],
      ["workspace", session.workspace.name],
      ["scopes", session.scopes],
      ...about,
    ]),
  );
  for (const notice of noticesOf(session)) output.talk(notice);
  return EXIT.ok;
}

/** A credential in words, without its value. */
export function describeCredential({ from, login }: Pick<Credential, "from" | "login">): string {
  switch (login) {
    case "environment":
      return `token from ${from}`;
    case "browser":
      return "browser login";
    case "admin":
      return "browser login, with admin rights for now";
    case "token":
      return "personal access token, stored";
    case "password":
      return "session, with e-mail and password";
  }
}

/** Ends at the server what is stored; gives the first failure that leaves something of it alive. */
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

async function findOrFail(
  store: CredentialStore,
  origin: string,
): Promise<{ stored?: StoredLogin | undefined; failure?: CliFailure }> {
  try {
    return { stored: await store.find(origin) };
  } catch (error) {
    if (error instanceof CliFailure && error.code === "keychain_unavailable") return { failure: error };
    throw error;
  }
}

/** The refresh token takes the whole grant with it; admin rights are a grant of their own. */
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
    // A session that is over has nothing left to revoke but the token, which then needs a new login.
    const isOver = error instanceof CliFailure && error.code === "unauthenticated" && mcpToken === undefined;
    if (!isOver) throw error;
  }
}

function notRevoked(baseUrl: string, failure: CliFailure): CliFailure {
  return new CliFailure({
    code: failure.code,
    exit: failure.exit,
    message: `The login was removed from this machine, but ${baseUrl} could not revoke it: ${failure.message}`,
    hint: "Revoke it in the browser (Settings, MCP access), or after your next login with kb grants list or kb tokens list.",
  });
}
