import { parseServerUrl } from "#api/server-url.ts";
import { command, ownFields, type Noun } from "#cli/line/command.ts";
import { makeCredentialStore } from "#cli/login/credentials.ts";
import { failure } from "#cli/host/failure.ts";
import { makeOutput } from "#cli/terminal/output.ts";
import { changeProfile, findProfile, listProfiles } from "#cli/login/profiles.ts";
import { flexible } from "#cli/terminal/table.ts";

/** A saved server, and who is signed in to it on this machine. */
interface StoredServer {
  name: string;
  url: string;
  isCurrent: boolean;
  email: string | null;
}

export const context: Noun = {
  summary: "The stored servers.",
  verbs: {
    list: command(
      {
        summary: "List the stored servers.",
        examples: ["kb context list"],
        fields: ownFields<StoredServer>("name", "url", "isCurrent", "email"),
      },
      async (input, deps) => {
        const logins = await makeCredentialStore(deps).list();
        const profiles: StoredServer[] = (await listProfiles(deps)).map((profile) => ({
          ...profile,
          email: logins.find(({ origin }) => origin === new URL(profile.url).origin)?.email ?? null,
        }));
        const output = makeOutput(input, deps);
        output.result({ profiles }, () =>
          output.table(
            profiles,
            {
              name: "name",
              server: flexible("url"),
              "signed in as": flexible("email"),
              "in use": ({ isCurrent }) => (isCurrent ? "yes" : ""),
            },
            "There are no stored servers. Add one with kb login URL.",
          ),
        );
      },
    ),
    use: command(
      {
        summary: "Switch to a stored server.",
        arguments: { "<name>": "its name in kb context list" },
        examples: ["kb context use kb.example.com"],
      },
      async (input, deps) => {
        const name = await findProfile(deps, input.args.name);
        await changeProfile(deps, name, "use");
        const url = (await listProfiles(deps)).find((profile) => profile.name === name)?.url ?? "";
        makeOutput(input, deps).talk(`Commands now go to ${url}.`);
      },
    ),
    /** `kb context remove NAME`: removes the last profile of a server only when no one is signed in to it, so that no active login is lost. */
    remove: command(
      {
        summary: "Remove a stored server that you are signed out of.",
        arguments: { "<name>": "its name in kb context list" },
        examples: ["kb context remove kb.example.com"],
        exitCodes: [5],
      },
      async (input, deps) => {
        const name = await findProfile(deps, input.args.name);
        const profiles = await listProfiles(deps);
        const profile = profiles.find((item) => item.name === name);
        if (profile !== undefined) {
          const { origin } = parseServerUrl(profile.url);
          const isLast = !profiles.some((item) => item.name !== name && new URL(item.url).origin === origin);
          const hasLogin = (await makeCredentialStore(deps).list()).some((login) => login.origin === origin);
          if (isLast && hasLogin) {
            const message = `You are still signed in to "${name}".`;
            throw failure("conflict", "still_signed_in", message, `kb logout --profile ${name}`);
          }
        }
        await changeProfile(deps, name, "remove");
        makeOutput(input, deps).talk(`Removed "${name}".`);
      },
    ),
  },
};
