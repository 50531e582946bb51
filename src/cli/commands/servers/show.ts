import { isSharedRedirect } from "#api/shared-redirect.ts";
import { route } from "#cli/line/command.ts";
import { usageFailure } from "#cli/host/failure.ts";
import type { Output } from "#cli/terminal/output.ts";
import { callCommand, listCommand, remoteCommand } from "#cli/calls/remote-command.ts";
import { findConnection, findServer, SERVER, type ServerRecord } from "./find.ts";
import { AUTH_OPTIONS, authOf, exitOfTest, offersOf, printTest } from "./options.ts";
import { flexible, minute, optional } from "#cli/terminal/table.ts";

export const listServers = listCommand("/api/mcp-servers", "servers", {
  summary: "List the MCP servers whose apps can be connected.",
  examples: ["kb servers list"],
  empty: "There are no servers. An admin can add one: kb servers add URL",
  columns: {
    id: "id",
    name: flexible("name"),
    url: flexible("url"),
    state: stateOf,
    connections: ({ counts }) => counts.connections,
    connectors: optional(({ counts }) => counts.connectors),
  },
});

export const showServer = remoteCommand(
  {
    summary: "Show one MCP server: what it reports about itself, and how people sign in.",
    of: SERVER,
    examples: ["kb servers show notes"],
    fields: [route("get", "/api/mcp-servers", "servers")],
  },
  async ({ output, found: server }) => {
    output.result({ server }, () => printServer(server, output));
    if (isSharedRedirect(server.auth)) output.talk(sharedRedirectLine(server));
  },
);

export const showHealth = callCommand(
  "get",
  "/api/mcp-servers/{id}/health",
  {
    summary: "Show the health of an MCP server as of its last probe, without asking it again.",
    of: SERVER,
    examples: ["kb servers health notes"],
  },
  (health, { output }) =>
    output.record([
      ["status", health.status],
      ["probed", minute(health.checkedAt) || "not yet"],
      ["answered in", health.latencyMs === null ? "" : `${health.latencyMs} ms`],
      ["failures in a row", health.consecutiveFailures],
      ["last problem", health.lastProblem && `${health.lastProblem.message} (${health.lastProblem.code})`],
      ["next probe", minute(health.nextCheckAt)],
      ["connections", `${health.connections.active} active`],
      ["to connect again", health.connections.needsReauth || ""],
      ["failed", health.connections.failed || ""],
    ]),
);

/** `kb servers test`: tests a URL that isn't stored, a stored server, or one of the person's own connections. */
export const testServer = remoteCommand(
  {
    summary: "Test an MCP server step by step: a new URL, a stored one, or your connection to it.",
    details:
      "A new URL is tried with the given --auth, and nothing is stored. A test of a stored server updates its health. The exit code is 1 when a step fails.",
    arguments: { "[server]": "a URL, or a server's name or srv_…; not with --connection" },
    options: { ...AUTH_OPTIONS, "--connection <connection>": "test your connection: its name or cnx_…" },
    examples: [
      "kb servers test https://mcp.example.org/mcp --secret env:MCP_TOKEN",
      "kb servers test notes",
      "kb servers test --connection notes",
    ],
    exitCodes: [3, 6],
    call: route("post", "/api/mcp-servers/connection-tests"),
  },
  async ({ api, output, args, options, deps, send }) => {
    const { server: word = "" } = args;
    const wanted = options.connection;
    if ((args.server === undefined) === (wanted === undefined)) {
      throw usageFailure("Name a server, or give --connection.");
    }
    const stored = (id: string, connectionId?: string) =>
      api.post("/api/mcp-servers/{id}/connection-tests", { params: { path: { id } }, body: { connectionId } });
    const run = async () => {
      if (wanted !== undefined) {
        const { id, serverId } = await findConnection(api, wanted);
        return stored(serverId, id);
      }
      const auth = await authOf(options, deps);
      const isUrl = /^https?:\/\//i.test(word);
      const servers = await api.list("/api/mcp-servers", "servers");
      if (isUrl && (auth !== undefined || servers.every(({ url }) => url !== word))) {
        return send({ body: { url: word, auth: auth ?? { kind: "none" } } });
      }
      if (auth !== undefined)
        throw usageFailure("A stored server is tested with its stored settings: --auth requires a URL.");
      return stored((await findServer(api, word)).id);
    };
    const test = await run();
    output.result(test, () => printTest(test, output));
    return exitOfTest(test);
  },
);

/** `kb servers apps SERVER`: lists the apps that can be connected through the server. */
export const listApps = remoteCommand(
  {
    summary: "List the apps that can be connected through an MCP server.",
    of: SERVER,
    options: { "--find <text>": "only apps with this in their name" },
    examples: ["kb servers apps notes"],
    call: route("get", "/api/mcp-servers/{id}/apps", "apps"),
  },
  async ({ api, output, found: { id, name }, options: { find: q } }) =>
    output.list(
      "apps",
      await api.list("/api/mcp-servers/{id}/apps", "apps", { at: { id }, query: { q } }),
      {
        app: "slug",
        name: flexible("name"),
        "connect with": ({ auth }) => auth.map((way) => WAYS[way]),
        "read by": ({ content }) => Object.entries(content).flatMap(([key, isRead]) => (isRead ? [key] : [])),
        yours: ({ connected }) => connected.mine,
        shared: ({ connected }) => connected.shared,
        about: optional(flexible("description")),
      },
      q === undefined ? `${name} has no app that can be connected.` : "No app has this name.",
    ),
);

const WAYS = { oauth: "browser", api_key: "token", none: "nothing" } as const;

/** Returns the most important state of a server. */
function stateOf({ enabled, health }: ServerRecord): string {
  return enabled ? health.status : "off";
}

function printServer(server: ServerRecord, output: Output): void {
  const { auth, serverInfo, capabilities, counts } = server;
  output.record([
    ["id", server.id],
    ["name", server.name],
    ["url", server.url],
    ["state", stateOf(server)],
    ["probed", minute(server.health.checkedAt)],
    ["server", serverInfo && `${serverInfo.title ?? serverInfo.name} ${serverInfo.version}`],
    ["MCP revision", server.protocolVersion],
    ["offers", capabilities && offersOf(capabilities)],
    ["auth", auth.kind],
    ["header", auth.headerName],
    ["client id", auth.clientId],
    ["redirect url", auth.redirectUrl],
    ["own secret", auth.hasSecret ? "yes" : "no"],
    ["can connect", server.connectPolicy === "admins" ? "admins" : "every member"],
    ["apps", server.apps ?? "all"],
    ["connections", counts.connections],
    ["connectors", counts.connectors],
    ["added", `${minute(server.createdAt)} by ${server.createdBy.name || "a former member"}`],
  ]);
}

function sharedRedirectLine({ id, auth: { clientId = "CLIENT_ID" } }: ServerRecord): string {
  return `Other servers may have the same redirect URL. To get a separate one: run kb servers update ${id} --auth oauth, set the client's redirect URL at the provider to the one that is printed, then run kb servers update ${id} --client-id ${clientId}`;
}
