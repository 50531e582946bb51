/** How the server starts, and why it can't; that `kb serve` as a program does the same: `e2e/process.system.test.ts`. */
import {
  chmodSync,
  cpSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Writable } from "node:stream";
import { describe, onTestFinished, test } from "vitest";
import { runServer } from "#server/main.ts";
import { ADMIN, BOOTSTRAP, cleanEnv, findUrl, signInAdmin } from "../e2e/server-process.ts";
import { tempDir } from "../temp-dir.ts";

interface Options {
  flags?: Record<string, string>;
  env?: Record<string, string>;
}

/** Runs a server in this process with its data and its log below a folder until it ends or is stopped. */
function run(dir: string, { flags = {}, env = {} }: Options = {}) {
  const logFile = join(dir, "log");
  const told = new AbortController();
  onTestFinished(() => told.abort());
  let said = "";
  let onSaid: () => void = () => undefined;
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      said += String(chunk);
      onSaid();
      done();
    },
  });
  const ended = runServer({
    flags: { port: "0", dataDir: join(dir, "data"), ...flags },
    env: cleanEnv(dir, env),
    // Left open: what a server still does at its end, it tells there.
    log: { fd: openSync(logFile, "a"), isTerminal: false, hasColour: false },
    stderr,
    onReady: () => undefined,
    signal: told.signal,
  });
  const listening = new Promise<string>((resolve, reject) => {
    onSaid = () => {
      const url = findUrl(said);
      if (url !== undefined) resolve(url);
    };
    void ended.then((code) => reject(new Error(`The server ended with ${code}: ${said}`)));
  });
  // Who waits for the end alone asks for no address.
  listening.catch(() => undefined);
  return {
    listening,
    said: () => said,
    log: () => readFileSync(logFile, "utf8"),
    /** What it ended with by itself. */
    async failure() {
      const code = await ended;
      return { code, stderr: said };
    },
    async stop() {
      await listening;
      told.abort();
      return ended;
    },
  };
}

const failureOf = (dir: string, options: Options = {}) => run(dir, options).failure();

describe("a server that can't start says why in one line and how to mend it", () => {
  test("the port is taken", async ({ expect }) => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { code, stderr } = await failureOf(tempDir(), { flags: { port: String(port) } });
    other.close();
    expect(code).toBe(7);
    expect(stderr.trim()).toBe(
      `kb serve: Port ${port} of 127.0.0.1 is in use by another program. Stop it, or choose another port with --port.`,
    );
  });

  test("another server uses the folder", async ({ expect }) => {
    const dir = tempDir();
    const first = run(dir);
    await first.listening;
    const second = await failureOf(dir);
    expect(second.code).toBe(7);
    expect(second.stderr).toMatch(/^kb serve: Another kb server is using the data folder .*\n$/);
    expect(await first.stop()).toBe(0);
  });

  test("the data folder is a file", async ({ expect }) => {
    const dir = tempDir();
    writeFileSync(join(dir, "data"), "");
    const { code, stderr } = await failureOf(dir);
    expect(code).toBe(7);
    expect(stderr).toMatch(/can't be written. Choose another with --data-dir/);
  });

  test("the key is another one than its database was used with", async ({ expect }) => {
    const dir = tempDir();
    await run(dir, { env: BOOTSTRAP }).stop();
    writeFileSync(join(dir, "data", "secret.key"), Buffer.alloc(32, 5));
    const { code, stderr } = await failureOf(dir);
    expect([code, stderr]).toEqual([7, expect.stringContaining("is not the one that its database was used with")]);
  });

  test("the database is damaged, empty, or without its key", async ({ expect }) => {
    const dir = tempDir();
    await run(dir, { env: BOOTSTRAP }).stop();
    const file = join(dir, "data", "kb.db");
    const key = join(dir, "data", "secret.key");
    renameSync(key, `${key}.away`);
    const keyless = await failureOf(dir);
    expect(keyless.code).toBe(7);
    expect(keyless.stderr).toContain(`The key file ${key} is missing, and ${file} was used with it. Restore it`);
    renameSync(`${key}.away`, key);
    writeFileSync(file, "no database at all", { flag: "r+" });
    const damaged = await failureOf(dir);
    expect(damaged).toMatchObject({ code: 7 });
    expect(damaged.stderr).toBe(
      `kb serve: The database ${file} can't be opened (file is not a database). It is damaged. Restore it from a backup.\n`,
    );
    truncateSync(file);
    const empty = await failureOf(dir);
    expect(empty.code).toBe(7);
    expect(empty.stderr).toMatch(/kb\.db is empty, but .*secret\.key shows that it was used/);
  });

  test("a number that is none, an unknown setting, PostgreSQL", async ({ expect }) => {
    const dir = tempDir();
    const port = await failureOf(dir, { flags: { port: "80a" } });
    expect(port).toMatchObject({ code: 2, stderr: 'kb serve: --port "80a" is not a port (1-65535).\n' });
    const misspelt = await failureOf(dir, { env: { KB_PUBLIC_ULR: "https://kb.test" } });
    expect(misspelt).toMatchObject({ code: 2 });
    expect(misspelt.stderr).toMatch(/Did you mean KB_PUBLIC_URL\?/);
    const postgres = await failureOf(dir, { env: { KB_DATABASE_URL: "postgres://db/kb" } });
    expect(postgres).toMatchObject({
      code: 2,
      stderr: "kb serve: KB_DATABASE_URL belongs to a later version of kb. Remove it.\n",
    });
  });
});

test("everything that a server makes in its folder is its own alone, and what was open is closed and said once", async ({
  expect,
}) => {
  const dir = tempDir();
  const data = join(dir, "data");
  const first = run(dir, { env: BOOTSTRAP });
  await first.listening;
  const modes = () =>
    Object.fromEntries(readdirSync(data).map((name) => [name, statSync(join(data, name)).mode & 0o77]));
  expect(Object.keys(modes())).toEqual(
    expect.arrayContaining(["kb.db", "kb.db-shm", "kb.db-wal", "lock", "secret.key"]),
  );
  expect(Object.values(modes()).every((open) => open === 0)).toBe(true);
  await first.stop();
  chmodSync(data, 0o755);
  chmodSync(join(data, "kb.db"), 0o644);
  await run(dir).stop();
  const said = first.log().match(/^.*Other users of this machine could read these.*$/gm) ?? [];
  expect(said.map((line) => JSON.parse(line).paths)).toEqual([[data, join(data, "kb.db")]]);
  expect([statSync(data).mode & 0o777, statSync(join(data, "kb.db")).mode & 0o777]).toEqual([0o700, 0o600]);
});

test("prints the setup code to the person and not to the log", async ({ expect }) => {
  const dir = tempDir();
  const server = run(dir);
  const url = await server.listening;
  await server.stop();
  const code = /^Setup code: (\S+)/m.exec(server.said())?.[1];
  expect(code).toMatch(/^[2-9a-z-]{20,}$/);
  expect(server.log()).toContain('"msg":"ready"');
  expect(server.log()).not.toContain(code);
  expect(server.said()).toContain(`Setup link: ${url}/welcome#code=${code}`);
  const settled = run(dir, { env: BOOTSTRAP });
  const again = await settled.listening;
  await settled.stop();
  expect(settled.said()).toContain(`Sign in with a browser at ${again}, or run: kb login ${again}`);
});

/** The admin's session, and what a server says to it. */
async function sessionOf(url: string) {
  const headers = { "content-type": "application/json" };
  const signedIn = await fetch(`${url}/api/session`, { method: "POST", headers, body: JSON.stringify(ADMIN) });
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  return {
    statusAt: async (other: string) => (await fetch(`${other}/api/session`, { headers: { cookie } })).status,
  };
}

test("says when its data was restored, and in the audit; a restart says nothing", async ({ expect }) => {
  const dir = tempDir();
  const first = run(dir, { env: BOOTSTRAP });
  const before = await sessionOf(await first.listening);
  await first.stop();
  cpSync(join(dir, "data"), join(dir, "backup"), { recursive: true, preserveTimestamps: true });
  const again = run(dir);
  expect(await before.statusAt(await again.listening)).toBe(200);
  await again.stop();
  expect(again.said()).not.toContain("restored");
  rmSync(join(dir, "data"), { recursive: true });
  cpSync(join(dir, "backup"), join(dir, "data"), { recursive: true, preserveTimestamps: true });
  const restored = run(dir);
  // Who was signed in when the copy was made isn't signed in by it.
  expect(await before.statusAt(await restored.listening)).toBe(401);
  const admin = await signInAdmin(await restored.listening);
  const { json: audit } = await admin("GET", "/api/audit?action=server.restored");
  await restored.stop();
  expect(restored.said()).toContain(
    `Warning: The data folder ${join(dir, "data")} was restored or copied: 0 connectors`,
  );
  expect(audit.entries).toMatchObject([{ details: { connectors: 0 } }]);
  const last = run(dir);
  await last.stop();
  expect(last.said()).not.toContain("restored");
});
