import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const PACKAGE = "matrix-synapse==1.163.2";

/**
 * The Python that `KB_TEST_SYNAPSE` names, if it has Synapse; otherwise an environment that is made once, beside the packages
 * of this project. Undefined when there is none, which is said.
 */
export function findSynapse(): string | undefined {
  const named = process.env["KB_TEST_SYNAPSE"];
  const venv = join(
    dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
    "../.cache/kb-synapse-1.163.2",
  );
  const own = join(venv, "bin/python");
  // Asked of what is installed: to import it takes seconds, and a server that can't start says so itself.
  const has = (python: string) =>
    spawnSync(python, ["-c", `import importlib.metadata as m; m.version("matrix-synapse")`], { timeout: 60_000 })
      .status === 0;
  const candidates = [...(named === undefined ? [] : [named]), own];
  const found = candidates.find(has) ?? (install(venv) && has(own) ? own : undefined);
  if (found === undefined) {
    process.stderr.write("Matrix: not tried with a real server (no python with the package matrix-synapse).\n");
  }
  return found;
}

function install(venv: string): boolean {
  const done = join(venv, "installed");
  if (existsSync(done)) return true;
  try {
    mkdirSync(dirname(venv), { recursive: true });
    if (spawnSync("python3", ["-m", "venv", venv], { timeout: 60_000 }).status !== 0) return false;
    const pip = spawnSync(join(venv, "bin/pip"), ["install", "--quiet", PACKAGE], { timeout: 400_000 });
    if (pip.status !== 0) return false;
    writeFileSync(done, PACKAGE);
    return true;
  } catch {
    return false;
  }
}

/** A homeserver of its own, on a folder that goes with it. */
export interface Synapse {
  port: number;
  url: string;
  stop(): void;
}

export async function startSynapse(python: string): Promise<Synapse> {
  const folder = mkdtempSync(join(tmpdir(), "kb-synapse-"));
  const config = join(folder, "hs.yaml");
  const port = await freePort();
  const secret = () => randomBytes(32).toString("base64").replace(/=+$/, "");
  writeFileSync(join(folder, "signing.key"), `ed25519 a_test ${secret()}\n`);
  writeFileSync(config, configOf({ folder, port, secret }));
  const child = spawn(python, ["-m", "synapse.app.homeserver", "-c", config], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (piece: Buffer) => (errors = `${errors}${piece.toString("utf8")}`.slice(-4_000)));
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    if (child.exitCode !== null || tries > 600) throw new Error(`Synapse did not start: ${errors}`);
    const answer = await fetch(`${url}/_matrix/client/versions`).catch(() => undefined);
    if (answer?.ok === true) break;
    await delay(200);
  }
  return {
    port,
    url,
    stop() {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Anybody may register, and nobody waits: who uses it is a test. Written here, since the program takes seconds for it. */
const configOf = ({ folder, port, secret }: { folder: string; port: number; secret(): string }) => `
server_name: kb.test
pid_file: ${folder}/hs.pid
listeners: [{port: ${port}, type: http, tls: false, bind_addresses: ["127.0.0.1"], resources: [{names: [client]}]}]
database: {name: sqlite3, args: {database: ${folder}/homeserver.db}}
media_store_path: ${folder}/media
signing_key_path: ${folder}/signing.key
trusted_key_servers: []
report_stats: false
macaroon_secret_key: "${secret()}"
form_secret: "${secret()}"
enable_registration: true
enable_registration_without_verification: true
bcrypt_rounds: 4
rc_message: {per_second: 10000, burst_count: 10000}
rc_registration: {per_second: 10000, burst_count: 10000}
rc_login: {address: {per_second: 10000, burst_count: 10000}, account: {per_second: 10000, burst_count: 10000}}
rc_joins: {local: {per_second: 10000, burst_count: 10000}, remote: {per_second: 10000, burst_count: 10000}}
rc_joins_per_room: {per_second: 10000, burst_count: 10000}
rc_room_creation: {per_second: 10000, burst_count: 10000}
rc_invites: {per_room: {per_second: 10000, burst_count: 10000}, per_user: {per_second: 10000, burst_count: 10000}, per_issuer: {per_second: 10000, burst_count: 10000}}
`;

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
