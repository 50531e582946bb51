import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findPackageRoot } from "#core/spawn.ts";

/** The program that starts a throwaway Gitea: beside this project, or where `KB_TEST_GITEA` says. */
const PROGRAM =
  process.env["KB_TEST_GITEA"] ?? new URL("../../../../shared/tools/gitea/gitea-dev.sh", import.meta.url).pathname;

/** Why there is no Gitea here; undefined when there is. */
export function whyNoGitea(): string | undefined {
  const isHere = existsSync(PROGRAM) && process.arch === "x64" && process.platform === "linux";
  if (!isHere) process.stderr.write("Gitea: not tried with a real server (../shared/tools/gitea is not here).\n");
  return isHere ? undefined : "../shared/tools/gitea is not here";
}

export interface GiteaServer {
  port: number;
  /** Of the site administrator. */
  token: string;
  /** Calls the API in the name of whose token it is; throws unless it went well. */
  api<T = unknown>(method: string, path: string, body?: unknown, token?: string): Promise<T>;
  /** The status alone. */
  status(path: string, token?: string): Promise<number>;
  /** Adds a person, and gives their id and a token of theirs. */
  addPerson(login: string): Promise<{ id: number; login: string; token: string }>;
  stop(): void;
}

/** A Gitea of its own, with a database of its own. */
export async function startGitea(): Promise<GiteaServer> {
  const kept = await findTemplate();
  const dir = makeFolder();
  const [run, port] = [join(dir, "run"), await freePort()];
  // Linked are only the files that no server writes to.
  for (const part of readdirSync(kept)) copy(join(kept, part), run, { isLinked: ["gitea", "static"].includes(part) });
  const token = await start(run, port);
  const base = `http://127.0.0.1:${port}/api/v1`;
  const send = async (method: string, path: string, body: unknown, as: string): Promise<Response> =>
    fetch(`${base}${path}`, {
      method,
      headers: { authorization: `Bearer ${as}`, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  async function api<T>(method: string, path: string, body?: unknown, as = token): Promise<T> {
    const answer = await send(method, path, body, as);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    // The caller knows what it asked for.
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }
  return {
    port,
    token,
    api,
    status: async (path, as = token) => (await send("GET", path, undefined, as)).status,
    async addPerson(login) {
      const password = `throwaway-${login}-1`;
      const { id } = await api<{ id: number }>("POST", "/admin/users", {
        username: login,
        email: `${login}@acme.test`,
        password,
        must_change_password: false,
      });
      const token = { name: "test", scopes: ["all"] };
      const basic = `Basic ${Buffer.from(`${login}:${password}`).toString("base64")}`;
      const answer = await fetch(`${base}/users/${login}/tokens`, {
        method: "POST",
        headers: { authorization: basic, "content-type": "application/json" },
        body: JSON.stringify(token),
      });
      // As its API says.
      const { sha1 } = (await answer.json()) as { sha1: string };
      return { id, login, token: sha1 };
    },
    stop() {
      spawnSync("bash", [PROGRAM, "stop"], { env: { ...process.env, GITEA_RUN_DIR: run } });
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The folder of one that ran once, below node_modules: to unpack and to migrate costs three times as much as a start. */
async function findTemplate(): Promise<string> {
  const { mtimeMs, size } = statSync(PROGRAM);
  const kept = join(findPackageRoot(), "node_modules/.cache", `kb-gitea-template-${Math.trunc(mtimeMs)}-${size}`);
  if (existsSync(kept)) return kept;
  const dir = makeFolder();
  const run = join(dir, "run");
  const port = await freePort();
  await start(run, port);
  // The id of its parent is in the file. The program's own `stop` would delete the folder too.
  const pid = readFileSync(join(run, "pid"), "utf8").trim();
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(/\s+/);
  for (const child of children) process.kill(Number(child), "SIGTERM");
  while (existsSync(`/proc/${pid}`)) await delay(50);
  for (const name of ["pid", "web.log"]) rmSync(join(run, name));
  const beside = `${kept}.${process.pid}`;
  mkdirSync(beside, { recursive: true });
  copy(`${run}/.`, beside, { isLinked: false });
  rmSync(dir, { recursive: true, force: true });
  try {
    renameSync(beside, kept);
  } catch {
    // Another process was there first.
    rmSync(beside, { recursive: true, force: true });
  }
  return kept;
}

/** A folder that nobody, whom it runs as where it would be root, can enter. */
function makeFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "kb-gitea-"));
  chmodSync(dir, 0o755);
  return dir;
}

/** With owners. Linked, it costs nothing; where that fails, the folders are on two disks. */
function copy(from: string, to: string, { isLinked }: { isLinked: boolean }): void {
  mkdirSync(to, { recursive: true });
  if (isLinked && spawnSync("cp", ["-al", from, to]).status === 0) return;
  if (spawnSync("cp", ["-a", from, to]).status !== 0) throw new Error(`${from} can't be copied.`);
}

/** Starts one in this folder; gives a token of its admin. */
async function start(run: string, port: number): Promise<string> {
  const env = { ...process.env, GITEA_RUN_DIR: run };
  const said = await new Promise<string>((resolve, reject) => {
    const child = spawn("bash", [PROGRAM, "start", String(port)], { env, stdio: ["ignore", "pipe", "pipe"] });
    let [out, errors] = ["", ""];
    child.stdout.on("data", (piece: Buffer) => {
      out += piece.toString("utf8");
      // What it started keeps the pipe open.
      if (out.includes("\n")) resolve(out);
    });
    child.stderr.on("data", (piece: Buffer) => (errors += piece.toString("utf8")));
    child.on("exit", (code) => code !== 0 && reject(new Error(`Gitea: ${errors.slice(-1_000)}`)));
  });
  return said.trim().split(/\s+/)[2] ?? "";
}

async function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
