import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, onTestFinished } from "vitest";
import { CLI } from "../program.ts";
import { operatorOf } from "./operator.ts";

export { CLI };

export const ADMIN = { email: "admin@acme.test", password: "blue kettle morning" };

/** The settings that make it. */
export const BOOTSTRAP = { KB_BOOTSTRAP_EMAIL: ADMIN.email, KB_BOOTSTRAP_PASSWORD: ADMIN.password };

/** `kb serve` as a process of its own. */
export interface ServerProcess {
  url: string;
  child: ChildProcess;
  /** The header of somebody who can read its data folder. */
  operator(): Record<string, string>;
  /** Log lines and what it said to the person, as far as they came. */
  output(): string;
  /** Ends it in order; gives its exit code. */
  stop(): Promise<number | null>;
}

/** An environment without anything of the developer's own. */
export function cleanEnv(home: string, more: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: home, ...more };
}

/** `kb serve` on a free port unless told, with its log where `log` is; nothing waits for it or ends it. */
export function spawnServer(
  dataDir: string,
  { flags = {}, env = {}, log = "pipe" }: { flags?: object; env?: Record<string, string>; log?: number | "pipe" } = {},
): ChildProcess {
  const options = Object.entries({ port: "0", "data-dir": dataDir, ...flags }).map(
    ([key, value]) => `--${key}=${value}`,
  );
  return spawn(process.execPath, [CLI, "serve", ...options], {
    env: cleanEnv(join(dataDir, ".."), env),
    stdio: ["ignore", log, "pipe"],
  });
}

/** A port that nobody listens at, for a server whose address is told before it starts. */
export async function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** The address that a server has said, once it did. */
export function findUrl(output: string): string | undefined {
  return /kb is listening on (http:\S+)/.exec(output)?.[1];
}

/** One server for all tests of a `describe`, on a data folder of its own; each test leaves the others what they need. */
export function shareServerProcess(env: Record<string, string> = {}): () => ServerProcess {
  let server: ServerProcess | undefined;
  beforeAll(async () => {
    const dir = mkdtempSync(join(tmpdir(), "kb-test-"));
    const { child } = (server = await startServerProcess(join(dir, "data"), env, () => undefined));
    return async () => {
      if (child.kill("SIGKILL")) await once(child, "exit");
      rmSync(dir, { recursive: true, force: true });
    };
  });
  return () => {
    if (server === undefined) throw new Error("The server is there once the tests run.");
    return server;
  };
}

/** Starts a server with a first admin on a free port and waits until it is ready; it ends with the test unless told. */
export async function startServerProcess(
  dataDir: string,
  env: Record<string, string> = {},
  atEnd: (stop: () => void) => void = onTestFinished,
  flags: Record<string, string> = {},
  log: number | "pipe" = "pipe",
): Promise<ServerProcess> {
  const child = spawnServer(dataDir, { flags, log, env: { ...BOOTSTRAP, ...env } });
  atEnd(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout?.on("data", (chunk) => (output += String(chunk)));
  child.stderr?.on("data", (chunk) => (output += String(chunk)));
  const exited = once(child, "exit");
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const found = findUrl(output);
      if (found !== undefined) resolve(found);
    };
    child.stderr?.on("data", look);
    child.once("exit", (code) => reject(new Error(`The server ended with ${code}:\n${output}`)));
  });
  return {
    url,
    child,
    operator: () => operatorOf(dataDir),
    output: () => output,
    async stop() {
      child.kill("SIGTERM");
      await exited;
      return child.exitCode;
    },
  };
}

/** Runs the command line to its end; it is killed with the test, which may be over before, unless told. */
export async function runKb(
  args: readonly string[],
  options: { env: Record<string, string>; input?: string; cwd?: string },
  atEnd: (stop: () => void) => void = onTestFinished,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [CLI, ...args], {
    env: options.env,
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  atEnd(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  // EPIPE: a bad call ends before it reads its input.
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");
  await once(child, "close");
  return { code: child.exitCode, stdout, stderr };
}

/** Signs the admin in over HTTP; gives a caller with the session. */
export async function signInAdmin(url: string, password = ADMIN.password) {
  const response = await fetch(`${url}/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...ADMIN, password }),
  });
  const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(url + path, {
      method,
      headers: { cookie, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every route
    const json: any = await answer.json();
    return { status: answer.status, json };
  };
}
