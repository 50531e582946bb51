import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { findPythonWith } from "../sources/python.ts";

const PACKAGES = [
  "@modelcontextprotocol/server-everything@2026.8.31",
  "@modelcontextprotocol/server-filesystem@2026.8.31",
  "supergateway@4.0.0",
];

/** The folder with servers that nobody here wrote, installed once beside the packages of this project; undefined when that fails. */
export function findNodeServers(): string | undefined {
  const packages = dirname(createRequire(import.meta.url).resolve("vitest/package.json"));
  const cache = join(packages, "../.cache/kb-mcp-servers-2026.8.31");
  if (existsSync(cache)) return join(cache, "node_modules");
  mkdirSync(dirname(cache), { recursive: true });
  // Beside its place: nothing can be moved to another file system.
  const scratch = mkdtempSync(`${cache}-`);
  try {
    writeFileSync(join(scratch, "package.json"), "{}");
    const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...PACKAGES];
    if (spawnSync("npm", args, { cwd: scratch, timeout: 240_000 }).status !== 0) return undefined;
    // Another test file may have been faster.
    if (!existsSync(cache)) renameSync(scratch, cache);
    return join(cache, "node_modules");
  } catch {
    return existsSync(cache) ? join(cache, "node_modules") : undefined;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

export const findPythonMcp = () =>
  findPythonWith({
    probe: "import mcp.server.fastmcp",
    packages: ["mcp==1.30.0"],
    cache: "kb-mcp-1.30.0",
    what: "mcp",
  });

export const findFastMcp = () =>
  findPythonWith({
    probe: "import fastmcp; assert fastmcp.__version__ == '3.4.10'",
    packages: ["fastmcp==3.4.10"],
    cache: "kb-fastmcp-3.4.10",
    what: "fastmcp",
  });

/** A program that listens at a free port, once it has said so; ended with the test. `PORT` in the arguments is the port. */
export async function startProgram(
  [command = "", ...args]: readonly string[],
  { says, env = process.env }: { says: RegExp; env?: NodeJS.ProcessEnv },
): Promise<string> {
  const port = String(await freePort());
  const child = spawn(
    command,
    args.map((arg) => arg.replace("$PORT", port)),
    { env: { ...env, PORT: port }, stdio: ["ignore", "pipe", "pipe"], detached: true },
  );
  onTestFinished(() => end(child));
  await new Promise<void>((resolve, reject) => {
    let said = "";
    const hear = (piece: Buffer) => {
      said += piece.toString("utf8");
      if (says.test(said)) resolve();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", () => reject(new Error(`${command} ended: ${said.slice(-500)}`)));
  });
  return `http://127.0.0.1:${port}`;
}

/** With what it started itself: it leads a group of its own. */
function end({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  // A listening TCP server has an address with a port.
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
