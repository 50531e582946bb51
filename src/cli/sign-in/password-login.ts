/** Signs in with email and password, and stores a session: for scripts, quickstart, the first user and invitations. */
import { hostname } from "node:os";
import type { ServerUrl } from "#api/server-url.ts";
import type { Session } from "#api/session.ts";
import type { Token } from "#api/tokens.ts";
import { makeApi, sessionApi, type Api } from "#cli/calls/api.ts";
import type { CommonOptions } from "#cli/line/command.ts";
import {
  makeCredentialStore,
  type CredentialStore,
  type Kept,
  type StoredLogin,
  type StoreName,
} from "#cli/login/credentials.ts";
import { canAsk, type Deps } from "#cli/host/deps.ts";
import { failure, isFailure, usageFailure } from "#cli/host/failure.ts";
import type { Answer } from "#cli/host/http.ts";
import { makeOutput } from "#cli/terminal/output.ts";
import { settingsOf, type Settings } from "#cli/login/settings.ts";
import { day } from "#cli/terminal/table.ts";
import { readStdin } from "#cli/line/values.ts";

/** A command line that may contain the answers to prompts. */
interface PasswordInput {
  options: CommonOptions & {
    passwordStdin: boolean;
    email: string | undefined;
    name: string | undefined;
    workspaceName: string | undefined;
    invitation: string | undefined;
  };
}

/** The result of signing in: the person, and the cookie of the session. */
export interface SignedIn {
  session: Session;
  cookie: string;
}

/** Signs in with email and password at POST /api/session. */
export async function signInWithPassword(api: Api, email: string, password: string): Promise<SignedIn> {
  return await openSession(await api.open.post("/api/session", { body: { email, password, timeZone: zone() } }));
}

/**
 * Stores the session, and makes sure that there is an `mcp:read` token for the bridge. An active token is kept until its last month.
 *
 * @param talk  called when a token was created
 * @returns where it is stored
 */
export async function keepSession(
  deps: Deps,
  server: ServerUrl,
  signedIn: SignedIn,
  wanted?: StoreName,
  talk: (text: string) => void = () => undefined,
): Promise<Kept> {
  const store = makeCredentialStore(deps);
  const api = sessionApi(deps, settingsOf(server), signedIn.cookie);
  const former = await findFormer(store, server);
  const { tokens } = await api.get("/api/api-tokens");
  const email = signedIn.session.user.email;
  const known = former?.mcpToken;
  const isLasting = (token: Token): boolean =>
    token.expiresAt === null || Date.parse(token.expiresAt) - deps.clock.now() > RENEW_BEFORE_MS;
  const isLive =
    known !== undefined && former?.email === email && tokens.some((token) => token.id === known.id && isLasting(token));
  const mcpToken = isLive ? known : await makeMcpToken(api, talk);
  return await store.save(server.origin, { email, session: signedIn.cookie, mcpToken }, wanted);
}

/** Returns the login that was stored before. A keychain that can't be opened must not block a new login. */
export async function findFormer(
  store: CredentialStore,
  server: ServerUrl,
  talk: (text: string) => void = () => undefined,
): Promise<StoredLogin | undefined> {
  return await store.find(server.origin).catch((error: unknown) => {
    if (!isFailure(error, "keychain_unavailable")) throw error;
    talk(
      "The previous login is in a keychain that can't be opened, so it still works at the server. Revoke it: kb grants list",
    );
    return undefined;
  });
}

const TOKEN_DAYS = 365;
/** A new sign-in replaces a bridge token that expires within this time. */
const RENEW_BEFORE_MS = 30 * 86_400_000;

async function makeMcpToken(api: Api, talk: (text: string) => void): Promise<{ id: string; plaintext: string }> {
  const name = `kb mcp on ${hostname().replace(/[^\w.-]/g, "") || "this machine"}`.slice(0, 120);
  const made = await api.post("/api/api-tokens", {
    body: { name, scopes: ["mcp:read"], expiresInDays: TOKEN_DAYS },
  });
  const until = made.token.expiresAt === null ? "" : ` It expires on ${day(made.token.expiresAt)}.`;
  talk(
    `Created the token "${name}" for the bridge; it reads what you can see.${until} Revoke it with: kb tokens revoke ${made.token.id}`,
  );
  return { id: made.token.id, plaintext: made.plaintext };
}

/** Signs in as the options require: by invitation, as the first user, or with email and password. */
export async function signInByPassword(
  input: PasswordInput,
  deps: Deps,
  settings: Settings,
  isFirstUser: boolean,
): Promise<SignedIn> {
  const api = makeApi(deps, settings);
  const invitation = input.options.invitation;
  const ask = makeAsk(input, deps);
  if (invitation !== undefined) {
    const token = new URLSearchParams(new URL(invitationUrl(invitation)).hash.slice(1)).get("token") ?? "";
    if (token === "") throw usageFailure("The invitation's link has no #token=… in it.", "Paste the full link.");
    const name = await ask.name();
    const email = await ask.email();
    const body = { token, name, email, password: await ask.password(), timeZone: zone() };
    return await openSession(await api.open.post("/api/invitations/accept", { body }));
  }
  if (!isFirstUser) return await signInWithPassword(api, await ask.email(), await ask.password());
  makeOutput(input, deps).talk(
    `${settings.server.baseUrl} has no users yet. Enter the setup code that kb serve printed to become its owner.`,
  );
  const setupCode = await ask.setupCode();
  const [name, email, password] = [await ask.name(), await ask.email(), await ask.password()];
  const workspaceName = await ask.workspaceName();
  const answer = await api.open.post("/api/onboarding", {
    body: { setupCode, name, email, password, workspaceName, timeZone: zone() },
  });
  return await openSession(answer);
}

/** Reads answers from flags and stdin, otherwise from prompts. Without a terminal, a missing answer is a usage failure. */
function makeAsk(input: PasswordInput, deps: Deps) {
  const isAsking = canAsk(deps, input.options);
  const fromStdin = input.options.passwordStdin;
  let lines: Promise<string[]> | undefined;

  async function line(index: number, what: string): Promise<string> {
    lines ??= readStdin(deps).then((text) => text.split(/\r?\n/));
    const value = (await lines)[index];
    if (value === undefined || value === "") throw usageFailure(`stdin has no line ${index + 1}, the ${what}.`);
    return value;
  }

  async function field(flag: string, message: string, option: "email" | "name" | "workspaceName"): Promise<string> {
    const optionValue = input.options[option];
    if (optionValue !== undefined) return optionValue;
    if (!isAsking) throw usageFailure(`${flag} is needed: there is no terminal to ask on.`);
    return await deps.prompts.text(message);
  }

  async function secret(index: number, message: string, what: string): Promise<string> {
    if (fromStdin) return await line(index, what);
    if (!isAsking) throw usageFailure("--password-stdin is needed: there is no terminal to ask on.");
    return await deps.prompts.password(message);
  }

  return {
    email: (): Promise<string> => field("--email", "Email", "email"),
    name: (): Promise<string> => field("--name", "Your name", "name"),
    workspaceName: (): Promise<string> => field("--workspace-name", "Name of the workspace", "workspaceName"),
    password: (): Promise<string> => secret(0, "Password", "password"),
    setupCode: (): Promise<string> => secret(1, "Setup code", "setup code"),
  };
}

/** Switches the stored session to another workspace and stores a bridge token for it; the previous bridge token is revoked. */
export async function moveSession(deps: Deps, api: Api, workspaceId: string): Promise<Session> {
  const { server } = api.settings;
  const stored = await makeCredentialStore(deps).find(server.origin);
  if (stored?.mcpToken !== undefined) {
    await api.delete("/api/api-tokens/{id}", { params: { path: { id: stored.mcpToken.id } } });
  }
  const signedIn = await openSession(await api.open.post("/api/session/workspace", { body: { workspaceId } }));
  await keepSession(deps, server, signedIn);
  return signedIn.session;
}

/** Reads the answer of any route that signs in. */
async function openSession(answer: Answer & { json(): Promise<Session> }): Promise<SignedIn> {
  const cookie = cookieOf(answer);
  return { session: await answer.json(), cookie };
}

function cookieOf(response: Answer): string {
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0] ?? "")
    .find((pair) => /^(__Host-kb|kb_session)=\S/.test(pair));
  if (cookie === undefined) {
    throw failure("unreachable", "unexpected_answer", "The server signed in without a session cookie.");
  }
  return cookie;
}

/** Returns the URL of an invitation after checking it. */
export function invitationUrl(text: string): string {
  try {
    return new URL(text).href;
  } catch {
    // The message uses the words of the option.
    throw usageFailure("--invitation takes the full link of the invitation.");
  }
}

function zone(): string | undefined {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return timeZone && /^[A-Za-z]/.test(timeZone) ? timeZone : undefined;
}
