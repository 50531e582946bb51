import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

/** A Python that has WsgiDAV, and what it needs to find it. */
export interface Python {
  command: string;
  env: NodeJS.ProcessEnv;
}

const PACKAGES = ["wsgidav==4.4.0", "cheroot==11.1.2"];

/**
 * The Python that `KB_TEST_PYTHON` names or the machine's own, if it has WsgiDAV; otherwise it is installed once, beside the
 * packages of this project. Undefined when there is none, which is said.
 */
export function findPython(): Python | undefined {
  const named = process.env["KB_TEST_PYTHON"];
  const cache = join(
    dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
    "../.cache/kb-wsgidav-4.4.0",
  );
  const candidates: Python[] = [
    ...(named !== undefined && named !== "1" ? [{ command: named, env: process.env }] : []),
    { command: "python3", env: process.env },
    { command: "python3", env: { ...process.env, PYTHONPATH: cache } },
  ];
  const has = ({ command, env }: Python) =>
    spawnSync(command, ["-c", "import wsgidav, cheroot"], { env, timeout: 20_000 }).status === 0;
  const found = candidates.find(has) ?? (install(cache) ? candidates.slice(-1).find(has) : undefined);
  if (found === undefined) {
    process.stderr.write(
      "WebDAV: not tried with a real server (no python with the package wsgidav; KB_TEST_PYTHON names one).\n",
    );
  }
  return found;
}

function install(cache: string): boolean {
  const scratch = mkdtempSync(join(tmpdir(), "kb-wsgidav-"));
  try {
    const venv = join(scratch, "venv");
    if (spawnSync("python3", ["-m", "venv", venv], { timeout: 60_000 }).status !== 0) return false;
    const packages = join(scratch, "packages");
    const pip = [join(venv, "bin/pip"), ["install", "--quiet", "--target", packages, ...PACKAGES]] as const;
    if (spawnSync(pip[0], pip[1], { timeout: 180_000 }).status !== 0) return false;
    mkdirSync(dirname(cache), { recursive: true });
    // Another test file may have been faster.
    if (!existsSync(cache)) renameSync(packages, cache);
    return true;
  } catch {
    return existsSync(cache);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** WsgiDAV on a folder; says its port. Anonymous, and with a user `anna` below `/locked`. */
const SCRIPT = `
import sys
from cheroot import wsgi
from wsgidav.wsgidav_app import WsgiDAVApp
root, digest = sys.argv[1], sys.argv[2] == "digest"
users = {"anna": {"password": "secret-of-anna"}}
app = WsgiDAVApp({
    "provider_mapping": {"/": root, "/locked": root},
    "simple_dc": {"user_mapping": {"*": True, "/locked": users}},
    "http_authenticator": {"accept_basic": not digest, "accept_digest": digest, "default_to_digest": digest},
    "dir_browser": {"enable": False},
    "verbose": 0,
})
server = wsgi.Server(("127.0.0.1", 0), app, numthreads=4)
server.prepare()
print(server.bind_addr[1], flush=True)
server.serve()
`;

export interface DavServer {
  port: number;
  stop(): void;
}

/** A real server over a folder. */
export async function startServer(python: Python, root: string, { digest = false } = {}): Promise<DavServer> {
  const child = spawn(python.command, ["-c", SCRIPT, root, digest ? "digest" : "basic"], {
    env: python.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (piece: Buffer) => (errors += piece.toString("utf8")));
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) => resolve(Number(line)));
    child.once("exit", () => reject(new Error(`WsgiDAV did not start: ${errors.slice(-2_000)}`)));
  });
  return { port, stop: () => void child.kill("SIGKILL") };
}
