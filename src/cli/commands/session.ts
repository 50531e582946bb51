import { hostname } from "node:os";
import type { Session } from "#api/session.ts";
import type { CreatedToken, TokenList } from "#api/tokens.ts";
import { parseServerUrl, isLoopbackHost, type ServerUrl } from "#api/server-url.ts";
import { makeApi, type Api } from "#cli/api.ts";
import { flagOption, textOption, type CommandInput } from "#cli/command.ts";
import { makeCredentialStore, type StoredLogin } from "#cli/credentials.ts";
import { canAsk, type Deps } from "#cli/deps.ts";
import { EXIT } from "#cli/exit-codes.ts";
import { CliFailure, usageFailure } from "#cli/failure.ts";
import { makeOutput } from "#cli/output.ts";
import { findCredential, getCredential, loadSettings, saveProfile, type Settings } from "#cli/settings.ts";
import { readStdin } from "#cli/values.ts";

/** What signing in gives: who it is, and the cookie that proves it. */
export interface SignedIn {
  session: Session;
  cookie: string;
}

/** `kb login [URL]` */
export async function login(input: CommandInput, deps: Deps): Promise<number> {
  const settings = await loginSettings(input, deps);
  const { server } = settings;
  const output = makeOutput(input, deps);
  warnAboutPlainHttp(server, output.talk);
  if (flagOption(input, "withToken")) return await loginWithToken(settings, deps, output.talk);
  const signedIn = await signIn(input, deps, settings);
  const mcpToken = await keepLogin(deps, server, signedIn);
  const { session } = signedIn;
  const profile = await saveProfile(deps, server, textOption(input, "profileName"));
  output.talk(
    `Signed in to ${server.baseUrl} as ${session.user.email} (${session.role} of "${session.workspace.name}").`,
  );
  output.talk(
    `Profile "${profile}". The bridge has its own token${mcpToken.isNew ? "" : " already"}: add  kb mcp  to your agent.`,
  );
  return EXIT.ok;
}

/** `kb logout` */
export async function logout(input: CommandInput, deps: Deps): Promise<number> {
  const settings = await loadSettings(deps, input.options);
  const store = makeCredentialStore(deps);
  const { origin, baseUrl } = settings.server;
  const stored = await store.find(origin);
  const output = makeOutput(input, deps);
  if (stored === undefined) {
    output.talk(`Nobody is signed in to ${baseUrl} here.`);
    return EXIT.ok;
  }
  const failure = await revokeStored(deps, settings, stored);
  await store.remove(origin);
  if (failure === undefined) {
    output.talk(`Signed out of ${baseUrl}.`);
    return EXIT.ok;
  }
  throw new CliFailure({
    code: failure.code,
    exit: failure.exit,
    message: `The login is gone from this machine, but ${baseUrl} could not revoke it: ${failure.message}`,
    hint: "Revoke it there: Settings, or kb tokens list after the next login.",
  });
}

/** `kb whoami` */
export async function whoami(input: CommandInput, deps: Deps): Promise<number> {
  const settings = await loadSettings(deps, input.options);
  const credential = await getCredential(deps, settings, "api");
  const session = await makeApi(deps, settings, credential).call<Session>("GET", "/api/session");
  const output = makeOutput(input, deps, settings.defaults);
  output.result(session, () =>
    output.record([
      ["user", session.user.name],
      ["email", session.user.email],
      ["role", session.role],
      ["workspace", session.workspace.name],
      ["scopes", session.scopes],
      ["server", settings.server.baseUrl],
      ["mcp url", settings.server.mcpUrl],
      ["credential", credential.kind === "token" ? `token from ${credential.from}` : `session from ${credential.from}`],
      ["profile", settings.serverFrom === "profile" ? (settings.profile ?? "") : ""],
    ]),
  );
  return EXIT.ok;
}

/** Signs in with e-mail and password at POST /api/session. */
export async function signInWithPassword(api: Api, email: string, password: string): Promise<SignedIn> {
  return await openSession(api, "/api/session", { email, password, ...zone() });
}

/**
 * Stores the session and makes sure that there is an `mcp:read` token for the bridge; a live one is kept.
 *
 * @returns the token's id, and whether it was made now
 */
export async function keepLogin(
  deps: Deps,
  server: ServerUrl,
  signedIn: SignedIn,
): Promise<{ id: string; isNew: boolean }> {
  const store = makeCredentialStore(deps);
  const settings: Settings = { server, serverFrom: "flag", profile: undefined, defaults: {} };
  const api = makeApi(deps, settings, { kind: "session", value: signedIn.cookie, from: "sign-in" });
  const former = await store.find(server.origin);
  const { tokens } = await api.call<TokenList>("GET", "/api/api-tokens");
  const email = signedIn.session.user.email;
  const known = former?.mcpToken;
  const isLive = known !== undefined && former?.email === email && tokens.some((token) => token.id === known.id);
  const mcpToken = isLive ? known : await makeMcpToken(api);
  await store.save(server.origin, { email, session: signedIn.cookie, mcpToken });
  return { id: mcpToken.id, isNew: !isLive };
}

async function makeMcpToken(api: Api): Promise<{ id: string; plaintext: string }> {
  const name = `kb mcp on ${hostname().replace(/[^\w.-]/g, "") || "this machine"}`.slice(0, 120);
  const made = await api.call<CreatedToken>("POST", "/api/api-tokens", { body: { name, scopes: ["mcp:read"] } });
  return { id: made.token.id, plaintext: made.plaintext };
}

async function loginSettings(input: CommandInput, deps: Deps): Promise<Settings> {
  const given = typeof input.arguments[0] === "string" ? input.arguments[0] : undefined;
  const invitation = textOption(input, "invitation");
  const url = given ?? (invitation === undefined ? undefined : new URL(invitationUrl(invitation)).origin);
  return await loadSettings(deps, url === undefined ? input.options : { ...input.options, url });
}

async function signIn(input: CommandInput, deps: Deps, settings: Settings): Promise<SignedIn> {
  const api = makeApi(deps, settings);
  const invitation = textOption(input, "invitation");
  const ask = makeAsk(input, deps);
  if (invitation !== undefined) {
    const token = new URLSearchParams(new URL(invitationUrl(invitation)).hash.slice(1)).get("token") ?? "";
    if (token === "") throw usageFailure("The invitation's address has no #token=… in it.", "Paste the whole address.");
    const body = { token, name: await ask.name(), email: await ask.email(), password: await ask.password() };
    return await openSession(api, "/api/invitations/accept", { ...body, ...zone() });
  }
  const { needed } = await api.call<{ needed: boolean }>("GET", "/api/onboarding");
  if (!needed) return await signInWithPassword(api, await ask.email(), await ask.password());
  makeOutput(input, deps).talk(
    "This server has no user yet. With the setup code that kb serve printed you become its owner.",
  );
  const setupCode = await ask.setupCode();
  const [name, email, password] = [await ask.name(), await ask.email(), await ask.password()];
  const workspaceName = await ask.workspaceName();
  return await openSession(api, "/api/onboarding", { setupCode, name, email, password, workspaceName, ...zone() });
}

interface Ask {
  email(): Promise<string>;
  name(): Promise<string>;
  workspaceName(): Promise<string>;
  password(): Promise<string>;
  setupCode(): Promise<string>;
}

/** Answers from flags and stdin, else from the person; without a terminal a missing one is a usage failure. */
function makeAsk(input: CommandInput, deps: Deps): Ask {
  const isAsking = canAsk(deps, input.options);
  const fromStdin = flagOption(input, "passwordStdin");
  let lines: Promise<string[]> | undefined;

  async function line(index: number, what: string): Promise<string> {
    lines ??= readStdin(deps).then((text) => text.split(/\r?\n/));
    const value = (await lines)[index];
    if (value === undefined || value === "") throw usageFailure(`stdin has no line ${index + 1}, the ${what}.`);
    return value;
  }

  async function field(flag: string, message: string, option: string): Promise<string> {
    const given = textOption(input, option);
    if (given !== undefined) return given;
    if (!isAsking) throw usageFailure(`${flag} is needed: there is no terminal to ask on.`);
    return await deps.prompts.text(message);
  }

  async function secret(index: number, message: string, what: string): Promise<string> {
    if (fromStdin) return await line(index, what);
    if (!isAsking) throw usageFailure("--password-stdin is needed: there is no terminal to ask on.");
    return await deps.prompts.password(message);
  }

  return {
    email: () => field("--email", "E-mail", "email"),
    name: () => field("--name", "Your name", "name"),
    workspaceName: () => field("--workspace-name", "Name of the workspace", "workspaceName"),
    password: () => secret(0, "Password", "password"),
    setupCode: () => secret(1, "Setup code", "setup code"),
  };
}

async function openSession(api: Api, path: string, body: Record<string, unknown>): Promise<SignedIn> {
  const response = await api.send("POST", path, { body });
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0] ?? "")
    .find((pair) => /^(__Host-kb|kb_session)=\S/.test(pair));
  if (cookie === undefined) {
    throw new CliFailure({
      code: "unexpected_answer",
      exit: EXIT.unreachable,
      message: "The server signed in without a session cookie.",
    });
  }
  // The contract's Session; the server checks its answers against the schema.
  return { session: (await response.json()) as Session, cookie };
}

async function loginWithToken(settings: Settings, deps: Deps, talk: (text: string) => void): Promise<number> {
  const token = (await readStdin(deps)).trim();
  if (!/^[\x21-\x7e]{8,512}$/.test(token))
    throw usageFailure("stdin holds no token.", "kb login --with-token < token.txt");
  const { server } = settings;
  const api = makeApi(deps, settings, { kind: "token", value: token, from: "stdin" });
  const session = await api.call<Session>("GET", "/api/session").catch((error: unknown) => {
    // A token for the tools alone may not ask who it is; that it was recognised is what matters.
    if (error instanceof CliFailure && error.code === "insufficient_scope") return undefined;
    throw error;
  });
  const login: StoredLogin = { apiToken: token, ...(session === undefined ? {} : { email: session.user.email }) };
  await makeCredentialStore(deps).save(server.origin, login);
  const profile = await saveProfile(deps, server);
  const who = session === undefined ? "with a token for the search tools" : `as ${session.user.email}`;
  talk(`Signed in to ${server.baseUrl} ${who}. Profile "${profile}".`);
  return EXIT.ok;
}

/** Revokes token and session at the server; gives the first failure that leaves one of them alive. */
async function revokeStored(deps: Deps, settings: Settings, stored: StoredLogin): Promise<CliFailure | undefined> {
  if (stored.session === undefined) return undefined;
  const api = makeApi(deps, settings, { kind: "session", value: stored.session, from: "the stored login" });
  try {
    if (stored.mcpToken !== undefined)
      await api.send("DELETE", `/api/api-tokens/${encodeURIComponent(stored.mcpToken.id)}`);
    await api.send("DELETE", "/api/session");
    return undefined;
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    // A session that is over has nothing left to revoke but the token, which then needs a new login.
    return error.code === "unauthenticated" && stored.mcpToken === undefined ? undefined : error;
  }
}

function invitationUrl(text: string): string {
  try {
    return new URL(text).href;
  } catch {
    // Said in the words of the option.
    throw usageFailure("--invitation takes the whole address of the invitation.");
  }
}

function warnAboutPlainHttp(server: ServerUrl, talk: (text: string) => void): void {
  const url = new URL(server.baseUrl);
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    talk(`Warning: ${server.baseUrl} is not encrypted; password and token can be read on the way.`);
  }
}

function zone(): { timeZone?: string } {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return timeZone && /^[A-Za-z]/.test(timeZone) ? { timeZone } : {};
}

/** The stored or given credential's server, for messages of other commands. */
export async function isSignedIn(deps: Deps, url: string): Promise<boolean> {
  const settings: Settings = { server: parseServerUrl(url), serverFrom: "flag", profile: undefined, defaults: {} };
  const credential = await findCredential(deps, settings, "api");
  if (credential === undefined) return false;
  try {
    await makeApi(deps, settings, credential).call("GET", "/api/session");
    return true;
  } catch (error) {
    if (error instanceof CliFailure && error.exit === EXIT.notSignedIn) return false;
    throw error;
  }
}
