import { basename } from "node:path";
import { cleanLine } from "#api/clean.ts";
import { parseServerUrl, type ServerUrl } from "#api/server-url.ts";
import { makeApi, sessionApi, type Api } from "#cli/calls/api.ts";
import { command, type CommandData, type InputOf } from "#cli/line/command.ts";
import { DATA_DIR } from "#cli/line/options.ts";
import { configDir, makeCredentialStore } from "#cli/login/credentials.ts";
import { type Deps, confirmed } from "#cli/host/deps.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { failure, isFailure, notSignedIn, usageFailure } from "#cli/host/failure.ts";
import { operatorHeaders } from "#cli/calls/operator.ts";
import { makeOutput, type Output } from "#cli/terminal/output.ts";
import { makeProgress } from "#cli/terminal/progress.ts";
import { printClients } from "#cli/quickstart/clients.ts";
import { checkFolder, questionAbout, surveyFolder } from "#cli/quickstart/folder.ts";
import { reportFolder, showSearch, type IndexedFolder } from "#cli/quickstart/report.ts";
import { isAlive } from "#cli/host/lock.ts";
import { adminPath, dataDirOf, ensureServer, logPath, readAdmin, stopServer } from "#cli/quickstart/server.ts";
import type { ConnectorRecord, SyncRecord } from "#cli/records/records.ts";
import { saveProfile } from "#cli/login/profiles.ts";
import { settingsOf } from "#cli/login/settings.ts";
import { exitOfSync, watchSync } from "#cli/records/sync-watch.ts";
import { parseInteger } from "#cli/line/values.ts";
import { keepSession, signInWithPassword } from "#cli/sign-in/password-login.ts";

const QUICKSTART = {
  summary: "Start a server here, index folders, run a first search, and print how to connect an agent.",
  details:
    "Serves on 127.0.0.1 only and keeps running. A second run uses the same server. It never changes an installation that quickstart didn't create. After Ctrl-C, the next run continues.",
  arguments: { "[path...]": "folders to index (default: the current one)" },
  options: {
    ...DATA_DIR,
    "--port <port>": "the port to serve on (default: KB_PORT, else 7700 or a free one)",
    "--query <words>": "what to search for at the end (default: words from a title)",
    "--generated": "also index node_modules, target, dist and other generated folders",
    "--yes": "don't ask about many files or other users' files",
    "--foreground": "stay in the foreground, and stop the server on Ctrl-C",
  },
  examples: ["kb quickstart ~/notes", "kb stop"],
  exitCodes: [4, 7, 8, 130],
} as const satisfies CommandData;

type QuickstartInput = InputOf<typeof QUICKSTART>;

/**
 * `kb quickstart [PATH…]`: sets up the server, the first admin, allowed folders, connectors and syncs, and runs one search. Running it again is
 * idempotent.
 */
export const quickstart = command(QUICKSTART, async (input, deps) => {
  refuseOtherHosts(deps);
  const output = makeOutput(input, deps);
  const dataDir = dataDirOf(input.options.dataDir, deps);
  const port = portOf(input, deps);
  const folders = await chooseFolders(input, deps, [dataDir, configDir(deps)]);
  output.talk(`Data in ${dataDir}. Starting the server …`);
  const running = await ensureServer(dataDir, port, deps);
  output.talk(
    `${running.isNew ? "Started" : "Using"} the server at ${running.url} (process ${running.pid}, log ${logPath(dataDir)}).`,
  );
  const server = parseServerUrl(running.url);
  const api = await signInHere(server, dataDir, deps, output);
  const done: IndexedFolder[] = [];
  for (const path of folders)
    done.push(await indexFolder(api, path, { dataDir, generated: input.options.generated }, deps));
  for (const folder of done) await reportFolder(api, folder, output);
  const [first] = done;
  if (first !== undefined) await showSearch(api, first, input.options.query, output);
  await printClients(server, deps, output);
  printNext(dataDir, output);
  const exit = Math.max(0, ...done.map((folder) => exitOfSync(folder.sync)));
  if (!input.options.foreground) return exit;
  return await stayForeground(dataDir, running.pid, exit, deps, output);
});

/** Returns the requested port of the server; undefined = the last one used, or a free one. */
function portOf(input: QuickstartInput, { env }: Deps): number | undefined {
  const flag = input.options.port;
  if (flag !== undefined) return parseInteger(flag, "--port", 1, 65_535);
  return parseInteger(env["KB_PORT"] || undefined, "KB_PORT", 1, 65_535);
}

function refuseOtherHosts(deps: Deps): void {
  const host = deps.env["KB_HOST"];
  if (host === undefined || host === "" || host === "127.0.0.1" || host === "localhost") return;
  throw usageFailure(`quickstart serves on 127.0.0.1 only, and KB_HOST is ${host}.`, "Unset KB_HOST, or run kb serve.");
}

async function chooseFolders(input: QuickstartInput, deps: Deps, secretDirs: readonly string[]): Promise<string[]> {
  const paths = input.args.path;
  const folders: string[] = [];
  for (const path of paths.length === 0 ? ["."] : paths) {
    const real = await checkFolder(path, deps, secretDirs);
    if (folders.includes(real)) continue;
    const progress = makeProgress(deps, `Checking ${basename(real)}`, "files");
    const tick = (files: number): void => progress.update({ done: files, total: null });
    const survey = await surveyFolder(real, process.getuid?.(), tick, { generated: input.options.generated });
    progress.stop();
    const question = questionAbout(real, survey);
    if (question !== undefined) await confirmed(input.options, deps, question);
    folders.push(real);
  }
  return folders;
}

/** Signs in with the session stored for this server, otherwise as the admin that quickstart created; with no other credential (S34). */
async function signInHere(server: ServerUrl, dataDir: string, deps: Deps, output: Output): Promise<Api> {
  const settings = settingsOf(server);
  const store = makeCredentialStore(deps);
  const stored = await store.find(server.origin);
  await saveProfile(deps, server, { dataDir });
  if (stored?.session !== undefined) {
    const api = sessionApi(deps, settings, stored.session);
    if (await isAccepted(api)) return api;
  }
  const admin = await readAdmin(dataDir);
  if (admin === undefined) throw notSignedIn(`Not signed in to ${server.baseUrl}.`, passwordLogin(server));
  const signedIn = await signInWithPassword(makeApi(deps, settings), admin.email, admin.password).catch(
    (error: unknown) => {
      if (!isFailure(error) || error.exit !== EXIT.notSignedIn) throw error;
      throw notSignedIn(
        `${server.baseUrl} no longer accepts the password in ${adminPath(dataDir)}.`,
        passwordLogin(server),
      );
    },
  );
  // Other commands keep using the browser login; only a session can allow folders.
  if (stored?.oauth !== undefined) await store.save(server.origin, { ...stored, session: signedIn.cookie });
  else await keepSession(deps, server, signedIn, "file", output.talk);
  output.talk(
    `Signed in as ${admin.email}. Its password is in ${adminPath(dataDir)}; the login is in ${store.path}. Only you can read them.`,
  );
  return sessionApi(deps, settings, signedIn.cookie);
}

async function isAccepted(api: Api): Promise<boolean> {
  try {
    await api.get("/api/session");
    return true;
  } catch (error) {
    if (isFailure(error) && error.exit === EXIT.notSignedIn) return false;
    throw error;
  }
}

function passwordLogin(server: ServerUrl): string {
  return `kb login ${server.baseUrl} --email YOU@EXAMPLE.COM`;
}

/** Allows the folder, creates its connector or uses the existing one, and follows the sync to its end. */
async function indexFolder(
  api: Api,
  path: string,
  { dataDir, generated }: { dataDir: string; generated: boolean },
  deps: Deps,
): Promise<IndexedFolder> {
  await api.post("/api/local-roots", { body: { path }, headers: await operatorHeaders(dataDir, deps) });
  const existing: ConnectorRecord[] = await api.list("/api/connectors", "connectors", {
    query: { providerId: "filesystem" },
  });
  const known = existing.find((item) => item.config?.["root"] === path && item.state !== "deleting");
  const started =
    known === undefined ? await addFolder(api, path, generated, existing) : await syncAgain(api, known, generated);
  const sync = await watchSync(api, deps, started.connector.name, started.sync, 0);
  return { path, connector: started.connector, sync };
}

async function addFolder(
  api: Api,
  path: string,
  generated: boolean,
  existing: readonly ConnectorRecord[],
): Promise<{ connector: ConnectorRecord; sync: SyncRecord }> {
  // The name follows the rules for every connector name: one line, without invisible characters.
  const base = cleanLine(basename(path), 60) || "files";
  const taken = new Set(existing.map((item) => item.name));
  let name = base;
  for (let number = 2; taken.has(name); number += 1) name = `${base} ${number}`;
  const made = await api.post("/api/connectors", {
    body: {
      providerId: "filesystem",
      name,
      config: { root: path, ...(generated && { generated }) },
      access: { visibility: "private" },
    },
  });
  return made.sync === null ? await syncAgain(api, made.connector, generated) : { ...made, sync: made.sync };
}

async function syncAgain(
  api: Api,
  connector: ConnectorRecord,
  generated: boolean,
): Promise<{ connector: ConnectorRecord; sync: SyncRecord }> {
  const path = { id: connector.id };
  if (generated && connector.config?.["generated"] !== true) {
    await api.patch("/api/connectors/{id}", {
      params: { path },
      body: { config: { ...connector.config, generated } },
    });
  }
  return { connector, sync: (await api.post("/api/connectors/{id}/syncs", { params: { path } })).sync };
}

function printNext(dataDir: string, output: Output): void {
  output.talk("");
  output.talk("Next: kb search WORDS, kb quickstart ANOTHER-FOLDER, kb connectors list, kb whoami, kb stop.");
  output.talk(`The web page: kb open, with the address and the password in ${adminPath(dataDir)}.`);
  output.talk(`The server keeps running; its data stays in ${dataDir}.`);
}

async function stayForeground(dataDir: string, pid: number, exit: number, deps: Deps, output: Output): Promise<number> {
  output.talk("Staying in the foreground; Ctrl-C stops the server.");
  while (!deps.signal.aborted && isAlive(pid)) await deps.clock.sleep(500, deps.signal).catch(() => undefined);
  if (!deps.signal.aborted)
    throw failure("unreachable", "server_ended", "The server stopped.", `See ${logPath(dataDir)}.`);
  await stopServer(dataDir, { ...deps, signal: new AbortController().signal });
  return exit;
}
