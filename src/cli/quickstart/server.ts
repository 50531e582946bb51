/** The server process that quickstart starts and `kb stop` ends. There is one per data folder, described by `<data>/server.json`. */
import { type ChildProcess, spawn } from "node:child_process";
import { open, readdir, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import type { Deps } from "#cli/host/deps.ts";
import { type CliFailure, failure, interrupted, notSignedIn } from "#cli/host/failure.ts";
import { isAlive } from "#cli/host/lock.ts";
import { createStateFile, makeFolder, readStateFile, textOf, writeStateFile } from "#cli/host/state-file.ts";

/** The first admin that quickstart created. The file has mode 0600 and the password is never printed. */
export interface QuickstartAdmin {
  email: string;
  password: string;
}

/** The content of `<data>/server.json`. `pid` is null after `kb stop`; the port is kept, so that clients' settings stay valid. */
export interface ServerFile {
  pid: number | null;
  url: string;
  /** Start time of the process in the system's ticks. If another process reuses its number, that process has another start time. */
  startedTicks: string | null;
}

export interface RunningServer {
  url: string;
  pid: number;
  /** False when an earlier run started the server. */
  isNew: boolean;
}

const DEFAULT_PORT = 7700;
/** The system chooses a free port. */
const ANY_PORT = 0;
const HOST = "127.0.0.1";
const READY_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
const STOP_TIMEOUT_MS = 30_000;

/** Settings that are meant for another installation or another host; they are never passed to the child. */
const NOT_INHERITED =
  /^KB_(HOST|PORT|PUBLIC_URL|MODE|DATA_DIR|URL|TOKEN|PROFILE|BOOTSTRAP_EMAIL|BOOTSTRAP_PASSWORD|CONNECTOR_KEY)(_FILE)?$/;

/** Returns the data folder: --data-dir, KB_DATA_DIR, otherwise the person's default data folder on this system. */
export function dataDirOf(flag: string | undefined, deps: Pick<Deps, "env" | "home" | "platform" | "cwd">): string {
  const { env, home, platform } = deps;
  const folder = flag ?? env["KB_DATA_DIR"];
  if (folder !== undefined && folder !== "") return resolve(deps.cwd, folder);
  if (platform === "win32" && env["LOCALAPPDATA"]) return join(env["LOCALAPPDATA"], "kb");
  return join(env["XDG_DATA_HOME"] || join(home, ".local", "share"), "kb");
}

/**
 * Returns the running server of this data folder, and starts one if none runs.
 *
 * @throws CliFailure 4 when the folder contains an installation that quickstart didn't create
 */
export async function ensureServer(dataDir: string, port: number | undefined, deps: Deps): Promise<RunningServer> {
  const file = await readServerFile(dataDir);
  const live = file === undefined ? undefined : await liveServer(file, deps);
  if (live !== undefined) return { ...live, isNew: false };
  await claimFolder(dataDir, file, deps);
  const former = file === undefined ? undefined : Number(new URL(file.url).port);
  const wanted = port ?? former ?? DEFAULT_PORT;
  const isFixed = port !== undefined;
  try {
    return await startServer(dataDir, await choosePort(wanted, isFixed), deps);
  } catch (error) {
    // Another quickstart was faster: its server uses the folder or the port.
    const other = await readServerFile(dataDir);
    const running = other === undefined ? undefined : await liveServer(other, deps);
    if (running !== undefined) return { ...running, isNew: false };
    if (isFixed || (await isFree(wanted))) throw error;
    return await startServer(dataDir, ANY_PORT, deps);
  }
}

/** Returns the admin of this data folder; undefined when quickstart created none. */
export async function readAdmin(dataDir: string): Promise<QuickstartAdmin | undefined> {
  const file = await readStateFile(adminPath(dataDir));
  const email = textOf(file?.["email"]);
  const password = textOf(file?.["password"]);
  return email === undefined || password === undefined ? undefined : { email, password };
}

/** Path of the admin's password file. */
export function adminPath(dataDir: string): string {
  return join(dataDir, "admin.json");
}

/**
 * Ends the server of this data folder and waits until it is gone.
 *
 * @returns the server's address; undefined when no server of quickstart is running
 * @throws CliFailure 9 when the server doesn't end
 */
export async function stopServer(dataDir: string, deps: Deps): Promise<string | undefined> {
  const file = await readServerFile(dataDir);
  if (file === undefined || file.pid === null || !(await isSameProcess(file))) return undefined;
  const { pid, url } = file;
  process.kill(pid, "SIGTERM");
  const until = deps.clock.now() + STOP_TIMEOUT_MS;
  while (await isSameProcess(file)) {
    if (deps.clock.now() > until) {
      throw failure(
        "timedOut",
        "timed_out",
        `The server (process ${pid}) is still running after ${STOP_TIMEOUT_MS / 1000} s.`,
        `See ${logPath(dataDir)}.`,
      );
    }
    await deps.clock.sleep(POLL_MS, deps.signal);
  }
  await writeServerFile(dataDir, { pid: null, url, startedTicks: null });
  return url;
}

/** Path of the server's log. */
export function logPath(dataDir: string): string {
  return join(dataDir, "server.log");
}

function serverPath(dataDir: string): string {
  return join(dataDir, "server.json");
}

async function readServerFile(dataDir: string): Promise<ServerFile | undefined> {
  const file = await readStateFile(serverPath(dataDir));
  const url = textOf(file?.["url"]);
  if (file === undefined || file["madeBy"] !== "quickstart" || url === undefined) return undefined;
  if (!/^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(url)) return undefined;
  const pid = file["pid"];
  return { pid: typeof pid === "number" ? pid : null, url, startedTicks: textOf(file["startedTicks"]) ?? null };
}

async function writeServerFile(dataDir: string, file: ServerFile): Promise<void> {
  await writeStateFile(serverPath(dataDir), { madeBy: "quickstart", ...file });
}

async function liveServer(file: ServerFile, deps: Deps): Promise<{ url: string; pid: number } | undefined> {
  if (file.pid === null || !(await isSameProcess(file))) return undefined;
  return (await isReady(file.url, deps)) ? { url: file.url, pid: file.pid } : undefined;
}

/** Checks that the folder is empty, or that an earlier quickstart created its admin file there. */
async function claimFolder(dataDir: string, file: ServerFile | undefined, deps: Deps): Promise<void> {
  if (file !== undefined) return;
  const entries = await readdir(dataDir).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  if (entries.includes("admin.json") && (await readAdmin(dataDir)) !== undefined) return;
  if (entries.some((name) => name !== "admin.json" && name !== "server.log")) {
    throw notSignedIn(
      `${dataDir} contains an installation that quickstart did not create, so quickstart won't change it.`,
      "Start it with kb serve, then run kb login and kb connectors add. Or give quickstart another --data-dir.",
    );
  }
  const password = Buffer.from(deps.randomBytes(24)).toString("base64url");
  await createStateFile(adminPath(dataDir), { madeBy: "quickstart", email: "admin@localhost", password });
}

async function startServer(dataDir: string, port: number, deps: Deps): Promise<RunningServer> {
  const admin = await readAdmin(dataDir);
  const env = Object.fromEntries(Object.entries(deps.env).filter(([name]) => !NOT_INHERITED.test(name)));
  // The server ignores this code after the owner exists. Without it, a server killed before its first start would never get an owner.
  const bootstrap =
    admin === undefined ? {} : { KB_BOOTSTRAP_EMAIL: admin.email, KB_BOOTSTRAP_PASSWORD: admin.password };
  // The server itself limits the size of its log. Output before and after goes to the same file.
  const logging = { KB_LOG_FILE: logPath(dataDir) };
  await makeFolder(dataDir);
  const log = await open(logPath(dataDir), "a", 0o600);
  const { command, prefix } = deps.program;
  try {
    const child = spawn(command, [...prefix, "serve", "--host", HOST, "--port", String(port), "--data-dir", dataDir], {
      cwd: dataDir,
      env: { ...env, ...bootstrap, ...logging },
      // The server reports over the IPC channel that it is ready, because an answer on the port could come from another server.
      stdio: ["ignore", log.fd, log.fd, "ipc"],
      // The server has its own process group: Ctrl-C here doesn't reach it, and it outlives this process.
      detached: true,
      windowsHide: true,
    });
    const url = `http://${HOST}:${await untilReady(child, dataDir, deps)}`;
    const { pid = 0 } = child;
    await writeServerFile(dataDir, { pid, url, startedTicks: await ticksOf(pid) });
    return { url, pid, isNew: true };
  } finally {
    await log.close();
  }
}

/**
 * Waits until the server reports that it is ready, then detaches from it. If the server doesn't report, its process is ended.
 *
 * @returns the port that it listens on
 */
async function untilReady(child: ChildProcess, dataDir: string, deps: Deps): Promise<number> {
  try {
    return await new Promise<number>((resolve, reject) => {
      const fail = (why: string) => void notStarted(why, dataDir).then(reject, reject);
      child.once("error", reject);
      child.once("exit", (code) => fail(`ended with exit code ${code ?? 1}`));
      child.once("message", (message: { port: number }) => resolve(message.port));
      AbortSignal.timeout(READY_TIMEOUT_MS).addEventListener("abort", () => {
        fail(`is not ready after ${READY_TIMEOUT_MS / 1000} s`);
      });
      deps.signal.addEventListener("abort", () => reject(interrupted("Interrupted before the server was ready.")));
      deps.signal.throwIfAborted();
    });
  } catch (error) {
    child.kill();
    throw error;
  } finally {
    if (child.connected) child.disconnect();
    child.unref();
  }
}

async function notStarted(why: string, dataDir: string): Promise<CliFailure> {
  return failure(
    "unreachable",
    "server_not_started",
    `The server ${why}. The end of its log:\n${await logTail(dataDir)}`,
    `The whole log: ${logPath(dataDir)}`,
  );
}

async function isReady(url: string, deps: Deps): Promise<boolean> {
  try {
    const response = await deps.fetch(`${url}/readyz`, { redirect: "manual", signal: AbortSignal.timeout(2000) });
    await response.text();
    return response.status === 200;
  } catch {
    // The server doesn't answer yet, or no longer. The caller asks again or starts a server.
    return false;
  }
}

async function logTail(dataDir: string): Promise<string> {
  const text = await readFile(logPath(dataDir), "utf8").catch(() => "");
  return text
    .trimEnd()
    .split("\n")
    .slice(-6)
    .map((line) => `  ${line.slice(0, 400)}`)
    .join("\n");
}

/** Returns the wanted port if it is free. Otherwise returns any free port, unless the person named the port. */
async function choosePort(wanted: number, isFixed: boolean): Promise<number> {
  if (await isFree(wanted)) return wanted;
  if (!isFixed) return ANY_PORT;
  throw failure("unreachable", "port_in_use", `Port ${wanted} is in use.`, "Leave out --port to use a free one.");
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, HOST, () => probe.close(() => resolve(true)));
  });
}

async function isSameProcess(file: ServerFile): Promise<boolean> {
  if (file.pid === null || !isAlive(file.pid)) return false;
  const ticks = await ticksOf(file.pid);
  return ticks === null || file.startedTicks === null || ticks === file.startedTicks;
}

/**
 * Returns field 22 of /proc/<pid>/stat; null without /proc. A zombie is treated as gone once its last thread has ended, because it holds the port
 * until then.
 */
async function ticksOf(pid: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The name in brackets may contain spaces and brackets.
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  if (fields === undefined) return null;
  const [state, threads, startedTicks = null] = [fields[0], fields[17], fields[19]];
  return state === "Z" && threads === "1" ? "gone" : startedTicks;
}
