import { makeApi } from "#cli/calls/api.ts";
import { command, route } from "#cli/line/command.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { unlessFailed } from "#cli/host/failure.ts";
import { noticesOf } from "#cli/records/notices.ts";
import { makeOutput } from "#cli/terminal/output.ts";
import { findCredential, getCredential, loadSettings, type Credential } from "#cli/login/settings.ts";

export const whoami = command(
  {
    summary: "Show who is signed in, to which server, with which credential.",
    examples: ["kb whoami", "kb whoami --json user,role"],
    exitCodes: [4, 7],
    fields: [route("get", "/api/session")],
    isRemote: true,
  },
  async (input, deps) => {
    const settings = await loadSettings(deps, input.options);
    const credential = await getCredential(deps, settings, "api").catch(async (error: unknown) => {
      // A login that is valid only for the tools has no access to REST.
      const tools = await findCredential(deps, settings, "mcp");
      if (tools === undefined) throw error;
      return tools;
    });
    const api = makeApi(deps, settings, credential);
    const session = await unlessFailed(api.get("/api/session"), "insufficient_scope");
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
  },
);

/** Describes a credential without its value. */
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
      return "session, with email and password";
  }
}
