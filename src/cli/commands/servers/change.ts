import type { BodyOf } from "#api/client.ts";
import { plural } from "#api/plural.ts";
import { connect } from "#cli/calls/api.ts";
import { command, oneOf, route, several } from "#cli/line/command.ts";
import { usageFailure } from "#cli/host/failure.ts";
import { makeOutput } from "#cli/terminal/output.ts";
import { remoteCommand, removeCommand } from "#cli/calls/remote-command.ts";
import { changes, someOf } from "#cli/line/values.ts";
import { findServer, SERVER, type ServerRecord } from "./find.ts";
import { AUTH_OPTIONS, authOf, registrationLine } from "./options.ts";

const RULE_OPTIONS = {
  "--connect <who>": oneOf(["admins", "members"], "who may connect its apps"),
  "--app <slug>": several("only these apps can be connected; may be repeated"),
} as const;

/** `kb servers add URL`: prints only the server's id on stdout; the steps of the test go to stderr. */
export const addServer = remoteCommand(
  {
    summary: "Add an MCP server; it is tested first (admins only).",
    details:
      "A server whose test fails is not added, unless you add --force. --secret sets the server's own secret: with it, admins can connect without a token of their own. With --auth oauth, kb registers itself at the provider. If it can't, add the server first: kb then prints the redirect URL to register, and you set the client ID with `kb servers update`.",
    arguments: { "<url>": "its streamable HTTP endpoint, such as https://mcp.example.org/mcp" },
    options: {
      "--name <name>": "the server's name (default: its host)",
      ...AUTH_OPTIONS,
      ...RULE_OPTIONS,
      "--force": "add it even if its test fails",
    },
    examples: [
      "kb servers add https://mcp.example.org/mcp --name Notes --auth oauth",
      "kb servers add https://tools.example.org/mcp --secret @token.txt --connect admins",
    ],
    exitCodes: [5, 6],
    call: route("post", "/api/mcp-servers"),
    fields: [route("post", "/api/mcp-servers", "server"), route("post", "/api/mcp-servers")],
  },
  async ({ output, args: { url }, options, deps, send }) => {
    const { name = hostOf(url), connect: connectPolicy, app, force } = options;
    const made = await send({
      body: {
        name,
        url,
        auth: (await authOf(options, deps)) ?? { kind: "none" },
        connectPolicy,
        apps: someOf(app),
        force: force || undefined,
      },
    });
    output.result(made, ({ server, test }) => {
      output.line(server.id);
      if (!test.ok) {
        const failed = test.steps.find(({ ok }) => !ok);
        output.talk(`Its test failed at ${failed?.step ?? "a step"}: ${failed?.problem?.message ?? "no answer"}`);
      }
      const line = registrationLine(server, test);
      const isReady = test.authRequired?.needsClient !== true;
      output.talk(`Server "${server.name}" is added.${isReady ? ` Connect it: kb servers connect ${server.id}` : ""}`);
      return line;
    });
  },
);

export const updateServer = command(
  {
    summary: "Change an MCP server (admins only).",
    details:
      "If you change the scheme, host or port, or the path to one that isn't below the old path, the server's secret is deleted unless you give a new one with the change. You can't make such a change while people have connected the server or are signing in.",
    arguments: { "<server>": SERVER.summary },
    options: {
      "--name <name>": "the server's new name",
      "--server-url <url>": "the server's new URL",
      ...AUTH_OPTIONS,
      "--drop-secret": "delete the server's own secret",
      ...RULE_OPTIONS,
      "--all-apps": "let people connect all its apps",
      "--enable": "turn it on",
      "--disable": "turn it off: nothing is read through it",
    },
    examples: ["kb servers update notes --secret env:NEW_TOKEN", "kb servers update notes --disable"],
    exitCodes: [3, 4, 5, 7],
    fields: [route("patch", "/api/mcp-servers/{id}", "server")],
    isRemote: true,
  },
  async (input, deps) => {
    const { options } = input;
    if (options.enable && options.disable) throw usageFailure("Give --enable or --disable.");
    if (options.allApps && options.app.length > 0) throw usageFailure("Give --app or --all-apps.");
    if (options.dropSecret && options.secret !== undefined) throw usageFailure("Give --secret or --drop-secret.");
    const api = await connect(input, deps);
    const server = await findServer(api, input.args.server);
    const body: BodyOf<"patch", "/api/mcp-servers/{id}"> = changes("kb servers update --help", {
      name: options.name,
      url: options.serverUrl,
      auth: await authOf(options, deps, server.auth),
      connectPolicy: options.connect,
      apps: options.allApps ? null : someOf(options.app),
      enabled: options.enable || options.disable ? options.enable : undefined,
    });
    const answer = await api.patch("/api/mcp-servers/{id}", { params: { path: { id: server.id } }, body });
    const output = makeOutput(input, deps, api.settings.defaults);
    output.result(answer, ({ server: changed }) => {
      output.talk(`Updated server "${changed.name}".`);
      if (server.auth.hasSecret && !changed.auth.hasSecret && !options.dropSecret) {
        output.talk(`Its secret was for ${hostOf(server.url)}, so it was deleted. Set it again with --secret.`);
      }
      return isSameClient(server, changed) ? undefined : registrationLine(changed);
    });
  },
);

export const removeServer = removeCommand("/api/mcp-servers/{id}", {
  summary: "Remove an MCP server, its connections and everything that was read through them (admins only).",
  of: SERVER,
  examples: ["kb servers remove notes --yes"],
  question({ name, counts: { connections } }) {
    const ends =
      connections === 0
        ? ""
        : ` ${plural(connections, "connection")} of people ${connections === 1 ? "ends" : "end"}, and what was read through them is deleted.`;
    return `Remove server "${name}"?${ends}`;
  },
  done: ({ name }) => `Removed server "${name}". What was read through it is hidden now and deleted in the background.`,
});

function isSameClient({ auth: before }: ServerRecord, { auth: after }: ServerRecord): boolean {
  return before.clientId === after.clientId && before.redirectUrl === after.redirectUrl;
}

/** Returns the host as the default name of a server. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
