import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

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
  const dir = mkdtempSync(join(tmpdir(), "kb-gitea-"));
  // It runs as nobody where it would be root.
  const env = { ...process.env, GITEA_RUN_DIR: join(dir, "run") };
  spawnSync("chmod", ["755", dir]);
  const port = await freePort();
  const call = async (args: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = spawn("bash", [PROGRAM, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
      let [out, errors] = ["", ""];
      child.stdout.on("data", (piece: Buffer) => {
        out += piece.toString("utf8");
        // What it started keeps the pipe open.
        if (out.includes("\n")) resolve(out);
      });
      child.stderr.on("data", (piece: Buffer) => (errors += piece.toString("utf8")));
      child.on("exit", (code) => code !== 0 && reject(new Error(`Gitea: ${errors.slice(-1_000)}`)));
    });
  const token = (await call(["start", String(port)])).trim().split(/\s+/)[2] ?? "";
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
    stop: () => void spawnSync("bash", [PROGRAM, "stop"], { env }),
  };
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
