/** The built program as a server of its own for the benchmarks: started, signed in to, and ended in order. */
import { spawn, type ChildProcess } from "node:child_process";
import { delimiter, join } from "node:path";
import { CLI } from "../program.ts";

export const ADMIN = { email: "admin@bench.test", password: "blue kettle morning" };
const POLL_MS = 100;

export interface BenchServer {
  url: string;
  child: ChildProcess;
  stop(): Promise<void>;
}

/** Calls a route as the admin; every JSON answer of the API is an object. */
export type Ask = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

export interface RunCounts {
  seen: number;
  upserted: number;
}

/**
 * Starts `kb serve` on a free port with `<dir>/data` and an admin; needs `npm run build` before. More flags for Node come
 * from `KB_BENCH_NODE_FLAGS`. The process has a channel: a flag may bring a probe that answers on it.
 */
export async function startServer(
  dir: string,
  roots: readonly string[],
  nodeFlags: readonly string[] = [],
  program = CLI,
): Promise<BenchServer> {
  const flags = [...nodeFlags, ...(process.env["KB_BENCH_NODE_FLAGS"] ?? "").split(" ").filter(Boolean)];
  const args = [...flags, program, "serve", "--port", "0", "--data-dir", join(dir, "data")];
  const child = spawn(process.execPath, args, {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: dir,
      KB_BOOTSTRAP_EMAIL: ADMIN.email,
      KB_BOOTSTRAP_PASSWORD: ADMIN.password,
      KB_LOCAL_ROOTS: roots.join(delimiter),
      KB_RATE_LIMITS: "off",
      KB_LOG_LEVEL: "warn",
    },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on("data", (part: Buffer) => {
      output += part.toString("utf8");
      const found = /kb is listening on (http:\S+)/u.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}:\n${output}`)));
  });
  return {
    url,
    child,
    async stop() {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await gone;
    },
  };
}

/** Signs the admin in. */
export async function signIn(url: string): Promise<Ask> {
  const headers = { "content-type": "application/json" };
  const session = await fetch(`${url}/api/session`, { method: "POST", headers, body: JSON.stringify(ADMIN) });
  const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return async (method, path, body) => {
    const given = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(url + path, { method, headers: { cookie, ...headers }, ...given });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
}

/**
 * Connects a folder for the whole workspace and waits for the end of its first run. `onPoll` is called ten times a second.
 *
 * @throws Error when the run failed
 */
export async function syncFolder(
  ask: Ask,
  folder: string,
  onPoll: () => void = () => undefined,
): Promise<{ counts: RunCounts; seconds: number }> {
  const startedAt = performance.now();
  const [config, access] = [{ root: folder }, { visibility: "workspace" }];
  const created = await ask("POST", "/api/connectors", { providerId: "filesystem", name: "bench", config, access });
  // The routes' schemas name these.
  const { id } = created["connector"] as { id: string };
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    onPoll();
    const { syncs } = (await ask("GET", `/api/connectors/${id}/syncs?limit=1`)) as {
      syncs: { state: string; finishedAt: string | null; counts: RunCounts }[];
    };
    const run = syncs[0];
    if (run === undefined || run.finishedAt === null) continue;
    if (run.state === "failed") throw new Error(`The sync failed: ${JSON.stringify(run)}`);
    return { counts: run.counts, seconds: (performance.now() - startedAt) / 1_000 };
  }
}
