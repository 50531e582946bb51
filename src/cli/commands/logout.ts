import { command } from "#cli/line/command.ts";
import { makeCredentialStore, type CredentialStore, type StoredLogin } from "#cli/login/credentials.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { CliFailure } from "#cli/host/failure.ts";
import { makeOutput } from "#cli/terminal/output.ts";
import { revokeStored } from "#cli/sign-in/revoke.ts";
import { loadSettings } from "#cli/login/settings.ts";

/** `kb logout`: ends the login at the server first, then deletes it even if the server failed. */
export const logout = command(
  {
    summary: "Sign out: end the login at the server and remove it from this machine.",
    examples: ["kb logout"],
    exitCodes: [4, 7],
    isRemote: true,
  },
  async (input, deps) => {
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
      output.talk(`No one is signed in to ${baseUrl} here.`);
      return EXIT.ok;
    }
    if (found.failure !== undefined) throw notRevoked(baseUrl, found.failure);
    output.talk(`Signed out of ${baseUrl}.`);
    if (found.isGivenToken) output.talk("The token still works elsewhere; revoke it in Settings > MCP access.");
    return EXIT.ok;
  },
);

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

function notRevoked(baseUrl: string, failure: CliFailure): CliFailure {
  return new CliFailure({
    code: failure.code,
    exit: failure.exit,
    message: `The login was removed from this machine, but ${baseUrl} could not revoke it: ${failure.message}`,
    hint: "Revoke it in the browser (Settings > MCP access), or after your next login with kb grants list or kb tokens list.",
  });
}
