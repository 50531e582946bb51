/** Runs actions that no token permits (passwords, tokens, workspaces, folders of the server) with a session, which is opened with the password. */
import { makeApi, sessionApi, type Api } from "#cli/calls/api.ts";
import type { CommonOptions } from "#cli/line/command.ts";
import { makeCredentialStore } from "#cli/login/credentials.ts";
import { canAsk, type Deps } from "#cli/host/deps.ts";
import { isFailure, notSignedIn, unlessFailed } from "#cli/host/failure.ts";
import { getCredential, loadSettings, type Settings } from "#cli/login/settings.ts";
import { readStdin } from "#cli/line/values.ts";
import { signInWithPassword } from "./password-login.ts";

/** A command line that may contain the account of a password, and where to read the password. */
interface SessionInput {
  options: CommonOptions & { passwordStdin: boolean; email?: string | undefined };
}

/**
 * Runs `work` with a session: with the stored session if it is recent enough, otherwise with one that is opened for this command with the person's
 * password and ended afterwards.
 */
export async function bySession<T>(input: SessionInput, deps: Deps, work: (api: Api) => Promise<T>): Promise<T> {
  const settings = await loadSettings(deps, input.options);
  const stored = await findSession(deps, settings);
  if (stored !== undefined) {
    try {
      return await work(sessionApi(deps, settings, stored));
    } catch (error) {
      const isAskable = input.options.passwordStdin || canAsk(deps, input.options);
      if (!isFailure(error, "recent_sign_in_required") || !isAskable) throw error;
    }
  }
  return await byPassword(input, deps, settings, work);
}

/** Runs `work` with a session opened with `password`, or with the password that the person enters. */
export async function byPassword<T>(
  input: SessionInput,
  deps: Deps,
  settings: Settings,
  work: (api: Api) => Promise<T>,
  password?: string,
): Promise<T> {
  const email = await whoAmI(input, deps, settings);
  const secret = password ?? (await askPassword(input, deps, settings, email));
  const { cookie } = await signInWithPassword(makeApi(deps, settings), email, secret);
  const api = sessionApi(deps, settings, cookie);
  try {
    return await work(api);
  } finally {
    // The session is no longer needed. A password change may have ended it already.
    await unlessFailed(api.delete("/api/session"));
  }
}

async function findSession(deps: Deps, settings: Settings): Promise<string | undefined> {
  if (deps.env["KB_TOKEN"] || deps.env["KB_TOKEN_FILE"]) return undefined;
  const stored = await makeCredentialStore(deps).find(settings.server.origin);
  return stored?.oauth === undefined ? stored?.session : undefined;
}

async function whoAmI(input: SessionInput, deps: Deps, settings: Settings): Promise<string> {
  const emailOption = input.options.email;
  if (emailOption !== undefined) return emailOption;
  const stored = await makeCredentialStore(deps).find(settings.server.origin);
  if (stored?.email !== undefined) return stored.email;
  const api = makeApi(deps, settings, await getCredential(deps, settings, "api"));
  return (await api.get("/api/session")).user.email;
}

async function askPassword(input: SessionInput, deps: Deps, settings: Settings, email: string): Promise<string> {
  if (input.options.passwordStdin) return (await readStdin(deps)).split(/\r?\n/)[0] ?? "";
  if (canAsk(deps, input.options)) return await deps.prompts.password(`Confirm the password of ${email}`);
  throw notSignedIn(
    `Tokens can't do this, and there is no terminal to ask for the password of ${email}.`,
    `Give it with --password-stdin, or do it in the browser: kb open settings --url ${settings.server.baseUrl}`,
  );
}
