import type { RecordOf } from "#api/client.ts";
import { addressOf, type Api } from "#cli/calls/api.ts";
import { route } from "#cli/line/command.ts";
import { canAsk } from "#cli/host/deps.ts";
import { failure, usageFailure } from "#cli/host/failure.ts";
import { accessOf } from "#cli/records/find.ts";
import { showPage } from "#cli/sign-in/sign-in.ts";
import { pickNamed } from "#cli/line/pick.ts";
import { readSecret } from "#cli/line/values.ts";
import { remoteCommand, type Remote, type RemoteData } from "#cli/calls/remote-command.ts";
import { connectionsOf, findConnection, SERVER, type ConnectionRecord, type ServerRecord } from "./find.ts";
import { SHARE_OPTIONS } from "./options.ts";

const CONNECT = {
  summary: "Connect an app of an MCP server: with your own token, or in a browser.",
  details:
    "For an app that you sign in to, this command opens a page of kb and waits: the page shows what will be connected and which account was found. Other apps take your token by reference; on a terminal, the command asks for it. Only you see what is read through a connection unless you set --access.",
  of: SERVER,
  arguments: { "[app]": "the app, as listed by `kb servers apps`; needed if there are several" },
  options: {
    "--name <name>": "the connection's name (default: the app's name)",
    "--token <reference>": "your own token: @FILE, env:VARIABLE or - for stdin",
    ...SHARE_OPTIONS,
    "--reconnect <connection>": "sign in again to this connection: its name or cnx_…",
    "--print": "only print the page's address, and don't wait",
  },
  examples: ["kb servers connect notes", "kb servers connect tools --token env:TOOLS_TOKEN --access workspace"],
  exitCodes: [5, 6, 9],
  call: route("post", "/api/mcp-servers/{id}/connections", "connection"),
} as const satisfies RemoteData;

type Connect = Remote<typeof CONNECT>;
type App = RecordOf<"/api/mcp-servers/{id}/apps", "apps">;

export const connectApp = remoteCommand(CONNECT, async (remote) => {
  const { api, output, args, options, found: server } = remote;
  const app = await appOf(api, server, args.app);
  const signsIn = app.auth.includes("oauth") && options.token === undefined;
  const isInBrowser = signsIn || options.reconnect !== undefined;
  if (!isInBrowser && options.print) {
    throw usageFailure(`--print is only for an app that you sign in to. ${app.name} takes a token.`);
  }
  const connection = isInBrowser ? await connectInBrowser(remote, app) : await connectWithToken(remote, app);
  if (connection === undefined) return;
  output.result({ connection }, () => {
    output.line(connection.id);
    const { id, name, account, elicitation } = connection;
    if (elicitation === null) return `Connected ${account === null ? name : `${account.label} at ${name}`}.`;
    output.talk(`The server wants you to open a page at ${elicitation.host} first.`);
    return `Open it with kb servers connect ${server.id} --reconnect ${id}, then run kb servers test --connection ${id}.`;
  });
});

/** Finds the app with this name, or the server's only app. */
async function appOf(api: Api, server: ServerRecord, word: string | undefined): Promise<App> {
  const apps = await api.list("/api/mcp-servers/{id}/apps", "apps", { at: { id: server.id } });
  const [only] = apps;
  if (word === undefined && only !== undefined && apps.length === 1) return only;
  if (word === undefined && apps.length > 1) {
    throw usageFailure(`${server.name} has ${apps.length} apps.`, `Name one: kb servers apps ${server.id}`);
  }
  return pickNamed(apps, word ?? "", ({ slug, name }) => ({ id: slug, names: [name] }), {
    many: "apps",
    none:
      word === undefined ? `${server.name} has no app that can be connected.` : `${server.name} has no app "${word}".`,
    list: `kb servers apps ${server.id}`,
  });
}

async function connectWithToken(remote: Connect, app: App): Promise<ConnectionRecord> {
  const { api, options, send } = remote;
  const token = await tokenFor(remote, app);
  const { connection } = await send({
    body: {
      app: app.slug,
      name: options.name,
      credentials: token === undefined ? undefined : { token },
      access: await accessOf(api, options),
    },
  });
  return connection;
}

/** Reads the token by reference, or from a prompt when the app needs a token and the server has none for it. */
async function tokenFor({ options, found, deps }: Connect, app: App): Promise<string | undefined> {
  if (options.token !== undefined) return readSecret(options.token, "--token", deps);
  const isNeeded = app.fields !== undefined && !found.auth.hasSecret;
  if (!isNeeded || !canAsk(deps, options)) return undefined;
  return (await deps.prompts.password(`Your token for ${app.name}`)).trim();
}

async function connectInBrowser(remote: Connect, app: App): Promise<ConnectionRecord | undefined> {
  const { api, output, options, deps, found: server } = remote;
  const before = await connectionsOf(api, server);
  const again = options.reconnect === undefined ? undefined : await findConnection(api, options.reconnect);
  const { intent } = await api.post("/api/mcp-servers/{id}/connections/intents", {
    params: { path: { id: server.id } },
    body: { app: app.slug, name: options.name, access: await accessOf(api, options), reconnect: again?.id },
  });
  const address = new URL(intent.redirectUrl, addressOf(api.settings.server, "/")).href;
  if (options.print) {
    output.line(address);
    return undefined;
  }
  await showPage(deps, address, output.talk);
  if (again?.elicitation) {
    output.talk(`When you have finished there, run kb servers test --connection ${again.id}.`);
    return undefined;
  }
  output.talk("It works once, in a browser in which you are signed in to kb. Press Ctrl-C to stop waiting.");
  return waitForConnection(remote, before, intent);
}

const LOOK_AGAIN_MS = 2_000;

/** Waits until the pending connection changes. Since a provider may not report the person, a new connection ends the wait too. */
async function waitForConnection(
  { api, deps, found: server }: Connect,
  before: readonly ConnectionRecord[],
  { connectionId, expiresAt }: { connectionId: string; expiresAt: string },
): Promise<ConnectionRecord> {
  const again = `Try again: kb servers connect ${server.id}`;
  const known = new Map(before.map((one) => [one.id, one]));
  const isNews = (one: ConnectionRecord): boolean =>
    one.isMine && one.status === "active" && known.get(one.id)?.lastCheckedAt !== one.lastCheckedAt;
  while (deps.clock.now() < Date.parse(expiresAt)) {
    await deps.clock.sleep(LOOK_AGAIN_MS, deps.signal);
    const connections = await connectionsOf(api, server);
    const made = connections.find((one) => one.id === connectionId && isNews(one)) ?? connections.find(isNews);
    if (made !== undefined) return made;
    const status = connections.find(({ id }) => id === connectionId)?.status;
    if (status === "expired") break;
    if (status === "failed" || status === "revoked") {
      throw failure("failure", "connection_failed", "Nothing was connected: you or the server refused.", again);
    }
  }
  throw failure("timedOut", "timeout", "Nothing was connected in time.", again);
}
