import type { Session } from "#api/session.ts";
import { defined } from "#core/defined.ts";
import { makeApi } from "#cli/calls/api.ts";
import { command, type CommandData, type InputOf } from "#cli/line/command.ts";
import {
  makeCredentialStore,
  type Kept,
  type OAuthLogin,
  type StoredLogin,
  type StoreName,
} from "#cli/login/credentials.ts";
import type { Deps } from "#cli/host/deps.ts";
import { CliFailure, failure, isFailure, unlessFailed, usageFailure } from "#cli/host/failure.ts";
import { discover, type AuthorizationServer } from "#cli/sign-in/metadata.ts";
import { resourceOf, withAnswer } from "#cli/login/refresh.ts";
import { LOGIN_SCOPES, signIn, signInAsAdmin, whyNoBrowser, type SignIn } from "#cli/sign-in/sign-in.ts";
import { requestTokens, revokeToken, type TokenAnswer } from "#cli/login/tokens.ts";
import { noticesOf } from "#cli/records/notices.ts";
import { makeOutput, type Output } from "#cli/terminal/output.ts";
import { saveProfile } from "#cli/login/profiles.ts";
import { loadSettings, refusePlainHttp, type Settings } from "#cli/login/settings.ts";
import { readStdin } from "#cli/line/values.ts";
import { findFormer, invitationUrl, keepSession, signInByPassword } from "#cli/sign-in/password-login.ts";
import { revokeStored } from "#cli/sign-in/revoke.ts";

const LOGIN = {
  summary: "Sign in to a server in your browser; commands and the bridge then use this login.",
  details:
    "On a machine without a browser (over SSH, in CI, without a display) it shows a code to enter in a browser on another machine. The login renews itself and is kept in the system's keychain, or, on a machine without one, in a file that only you can read. It is sent only to this server. Scripts use --with-token, or --email with --password-stdin. On a server without users its setup code makes you the owner.",
  arguments: { "[url]": "the server (default: KB_URL, the last one, or http://127.0.0.1:7700)" },
  options: {
    "--device": "show a code to enter in a browser on another machine",
    "--admin": "get admin rights for an hour, in addition to your login; the browser asks for your password again",
    "--with-token": "use a personal access token from stdin instead",
    "--email <email>": "sign in with email and password, without a browser",
    "--password-stdin": "read the password from line 1 of stdin, and the setup code, if needed, from line 2",
    "--invitation <url>": "accept the invitation with this full link",
    "--name <name>": "your name, when the account is created",
    "--workspace-name <name>": "name of the workspace, when the first user is created",
    "--profile-name <name>": "name of the stored server (default: its host)",
    "--insecure-storage": "store the login in a file, not in the keychain",
  },
  examples: [
    "kb login https://kb.example.com",
    "kb login --device",
    "kb login https://kb.example.com --with-token < token.txt",
    "kb login --email ana@example.com --password-stdin < password.txt",
  ],
  exitCodes: [4, 5, 6, 7, 9, 130],
  isRemote: true,
} as const satisfies CommandData;

type LoginInput = InputOf<typeof LOGIN>;

export const login = command(LOGIN, async (input, deps) => {
  checkWays(input);
  const settings = await loginSettings(input, deps);
  refusePlainHttp(settings.server, deps.env);
  const job: Job = { input, deps, settings, output: makeOutput(input, deps), wanted: storeOf(input) };
  if (input.options.withToken) return await loginWithToken(job);
  const isFirstUser = input.options.admin ? false : await needsFirstUser(job);
  if (isFirstUser || isByPassword(input)) return await loginByPassword(job, isFirstUser);
  return input.options.admin ? await loginAsAdmin(job) : await loginByBrowser(job);
});

/** A running `kb login`. */
interface Job {
  input: LoginInput;
  deps: Deps;
  settings: Settings;
  output: Output;
  wanted: StoreName;
}

function checkWays(input: LoginInput): void {
  const ways = [
    ["--device", input.options.device],
    ["--with-token", input.options.withToken],
    ["--admin", input.options.admin],
    ["--email, --password-stdin and --invitation", isByPassword(input)],
  ] as const;
  const usedWays = ways.filter(([, isUsed]) => isUsed).map(([name]) => name);
  if (usedWays.length > 1) throw usageFailure(`${usedWays.join(" and ")} can't be combined.`, "kb login --help");
}

function isByPassword(input: LoginInput): boolean {
  const { email, invitation } = input.options;
  return email !== undefined || invitation !== undefined || input.options.passwordStdin;
}

function storeOf(input: LoginInput): StoreName {
  return input.options.insecureStorage ? "file" : "keychain";
}

async function loginSettings(input: LoginInput, deps: Deps): Promise<Settings> {
  const urlArgument = input.args.url;
  const invitation = input.options.invitation;
  const url = urlArgument ?? (invitation === undefined ? undefined : new URL(invitationUrl(invitation)).origin);
  return await loadSettings(deps, url === undefined ? input.options : { ...input.options, url });
}

async function needsFirstUser({ deps, input, settings }: Job): Promise<boolean> {
  if (input.options.invitation !== undefined) return false;
  return (await makeApi(deps, settings).get("/api/onboarding")).needed;
}

async function loginByPassword(job: Job, isFirstUser: boolean): Promise<void> {
  const { deps, input, output, settings } = job;
  const { server } = settings;
  const former = await findFormer(makeCredentialStore(deps), server, output.talk);
  const signedIn = await signInByPassword(input, deps, settings, isFirstUser);
  const kept = await keepSession(deps, server, signedIn, job.wanted, output.talk);
  if (former?.oauth !== undefined) await revokeFormer(job, { oauth: former.oauth });
  await finish(job, kept, signedIn.session);
  if (former?.oauth !== undefined) output.talk("This replaces your browser login.");
}

async function loginWithToken(job: Job): Promise<void> {
  const { deps, settings } = job;
  const token = (await readStdin(deps)).trim();
  if (!/^[\x21-\x7e]{8,512}$/.test(token))
    throw usageFailure("stdin contains no token.", "kb login --with-token < token.txt");
  const { server } = settings;
  const api = makeApi(deps, settings, { kind: "token", value: token, from: "stdin", login: "token" });
  const session = await api.get("/api/session").catch((error: unknown) => {
    // A token that is valid only for the tools may not query its user. It is enough that the server recognized the token.
    if (isFailure(error, "insufficient_scope")) return undefined;
    throw isFailure(error, "unauthenticated") ? badToken(error) : error;
  });
  const store = makeCredentialStore(deps);
  const former = await findFormer(store, server, job.output.talk);
  const login: StoredLogin = { apiToken: token, ...(session === undefined ? {} : { email: session.user.email }) };
  const kept = await store.save(server.origin, login, job.wanted);
  if (former !== undefined) await revokeFormer(job, former);
  await finish(job, kept, session, session === undefined ? "with a token for the search tools" : undefined);
}

/** Uses the browser on this machine, or another browser in which the person types a code. */
async function loginByBrowser(job: Job): Promise<void> {
  const { deps, output, settings } = job;
  const { server } = settings;
  if (job.input.options["input"] === false) throw needsPerson();
  const endpoints = await discover(deps, server);
  const store = makeCredentialStore(deps);
  const former = await findFormer(store, server, output.talk);
  const answer = await signIn(signInOf(job, endpoints), job.input.options.device);
  if (answer.refreshToken === undefined) throw noRefresh(server.baseUrl);
  const first: OAuthLogin = {
    tokenEndpoint: endpoints.tokenEndpoint,
    revocationEndpoint: endpoints.revocationEndpoint,
    refreshToken: answer.refreshToken,
    scopes: answer.scopes ?? LOGIN_SCOPES,
  };
  const oauth = withAnswer(first, "api", answer);
  // The token is saved before anything else can fail, because it can't be retrieved again.
  const kept = await store.save(server.origin, { oauth }, job.wanted);
  if (former !== undefined) await revokeFormer(job, former);
  const session = await whoIs(job, answer.accessToken);
  await addBridgeToken(job, { oauth, ...(session === undefined ? {} : { email: session.user.email }) });
  await finish(job, kept, session);
  if (session === undefined) output.talk("The server did not say who you are. Check with: kb whoami");
}

/** Adds the second token, for the tools. Without it, the bridge fetches its own on its first call. */
async function addBridgeToken(
  { deps, settings, output }: Job,
  login: StoredLogin & { oauth: OAuthLogin },
): Promise<void> {
  const { server } = settings;
  const store = makeCredentialStore(deps);
  const { oauth } = login;
  await store.exclusively(server.origin, async () => {
    let now = oauth;
    try {
      const answer = await requestTokens(deps, oauth.tokenEndpoint, {
        grant_type: "refresh_token",
        refresh_token: oauth.refreshToken,
        resource: resourceOf(server, "mcp"),
      });
      now = withAnswer(oauth, "mcp", answer);
    } catch (error) {
      if (!isFailure(error)) throw error;
      output.talk(`The bridge has no token yet: ${error.message}`);
    }
    await store.save(server.origin, { ...login, oauth: now });
  });
}

/** Adds admin rights for an hour to the existing login. */
async function loginAsAdmin(job: Job): Promise<void> {
  const { deps, input, output, settings } = job;
  const { server } = settings;
  if (input.options["input"] === false) throw needsPerson();
  const reason = whyNoBrowser(deps);
  if (reason !== undefined) throw adminNeedsBrowser(server.baseUrl, reason);
  const endpoints = await discover(deps, server);
  const store = makeCredentialStore(deps);
  const answer = await signInAsAdmin(signInOf(job, endpoints));
  if (answer === undefined) throw adminNeedsBrowser(server.baseUrl, "none could be started");
  const session = await whoIs(job, answer.accessToken);
  const former = await findFormer(store, server);
  const problem = adminProblem(answer, session, former);
  if (problem !== undefined) {
    // The token expires within the hour anyway.
    await unlessFailed(revokeToken(deps, endpoints.revocationEndpoint, answer.accessToken));
    throw problem;
  }
  const email = session?.user.email;
  const admin = { token: answer.accessToken, expiresAt: answer.expiresAt };
  const isNew = former === undefined;
  const kept = await store.exclusively(server.origin, async () => {
    const current = (await findFormer(store, server)) ?? {};
    return await store.save(
      server.origin,
      { ...current, ...defined({ email }), admin },
      isNew ? job.wanted : undefined,
    );
  });
  const minutes = Math.max(1, Math.round((answer.expiresAt - deps.clock.now()) / 60_000));
  await finish(job, kept, session);
  output.talk(
    `You have admin rights for ${minutes} minutes${isNew ? "" : "; after that your login continues without them"}.`,
  );
  if (isNew) output.talk("They end automatically. For a lasting login, and for the bridge: kb login");
}

function signInOf({ deps, output, settings }: Job, endpoints: AuthorizationServer): SignIn {
  return { deps, server: settings.server, endpoints, talk: output.talk };
}

function adminProblem(
  answer: TokenAnswer,
  session: Session | undefined,
  former: StoredLogin | undefined,
): CliFailure | undefined {
  if (answer.scopes?.includes("kb:admin") === false) {
    return failure(
      "notSignedIn",
      "insufficient_scope",
      "The server granted no admin rights: they are for admins and the owner of the workspace.",
      "kb whoami shows your role.",
    );
  }
  if (former?.email === undefined || session === undefined || former.email === session.user.email) return undefined;
  return failure(
    "conflict",
    "other_account",
    `In the browser you are ${session.user.email}, here you are signed in as ${former.email}.`,
    "Sign in as the same person in the browser, or first: kb logout",
  );
}

/** Returns the token's user; undefined when the server doesn't report the user, which must not make the login fail. */
async function whoIs({ deps, settings }: Job, token: string): Promise<Session | undefined> {
  const api = makeApi(deps, settings, { kind: "token", value: token, from: "the sign-in", login: "browser" });
  return await unlessFailed(api.get("/api/session"));
}

async function finish(job: Job, kept: Kept, session: Session | undefined, finishedBy?: string): Promise<void> {
  const { deps, input, output, settings } = job;
  const { server } = settings;
  const profile = await saveProfile(deps, server, { name: input.options.profileName });
  const who =
    session === undefined
      ? (finishedBy ?? "")
      : `as ${session.user.email} (${session.role} of "${session.workspace.name}")`;
  output.talk(`Signed in to ${server.baseUrl} ${who}`.trimEnd().concat("."));
  if (session !== undefined) for (const notice of noticesOf(session)) output.talk(notice);
  const { path } = makeCredentialStore(deps);
  if (kept.why !== undefined) {
    output.talk(
      `Notice: the system's keychain can't be used (${kept.why}), so the login is stored in ${path}, which only you can read. To accept this, pass --insecure-storage.`,
    );
  } else output.talk(`The login is in ${kept.store === "keychain" ? "the system's keychain" : path}.`);
  output.talk(`Profile "${profile}". Next: kb search WORDS; for an agent: kb mcp`);
}

/** Ends the login that this one replaces, so that no unused login stays active. */
async function revokeFormer({ deps, output, settings }: Job, former: StoredLogin): Promise<void> {
  const failure = await revokeStored(deps, settings, former);
  if (failure !== undefined) output.talk(`The previous login could not be revoked: ${failure.message}`);
}

function badToken(cause: CliFailure): CliFailure {
  return new CliFailure({
    code: cause.code,
    exit: cause.exit,
    message: `The server refused this token: ${cause.message}`,
    hint: "Create one in the browser (Settings > MCP access), or on another machine with: kb tokens create NAME --scope kb:api --scope mcp:read",
    requestId: cause.requestId,
    status: cause.status,
  });
}

function needsPerson(): CliFailure {
  return usageFailure(
    "Signing in with a browser needs a person, but --no-input is set.",
    "Use --with-token, or --email with --password-stdin.",
  );
}

function adminNeedsBrowser(baseUrl: string, reason: string): CliFailure {
  return failure(
    "notSignedIn",
    "no_browser",
    `Admin rights need a browser on this machine, and none can be opened (${reason}).`,
    `Sign in with a session, which has all rights of your role: kb login ${baseUrl} --email YOU@EXAMPLE.COM`,
  );
}

function noRefresh(baseUrl: string): CliFailure {
  return failure(
    "unreachable",
    "unexpected_answer",
    `${baseUrl} issued a login that can't be renewed, so kb did not store it.`,
    `Sign in with email and password: kb login ${baseUrl} --email YOU@EXAMPLE.COM`,
  );
}
