import { chmodSync, mkdirSync, readdirSync, renameSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "vitest";
import { tempDir } from "../helpers.ts";
import { ADMIN, cleanEnv, runKb, signInAdmin, startServerProcess } from "./server-process.ts";

const serve = (dir: string, args: string[], env: Record<string, string> = {}) =>
  runKb(["serve", "--data-dir", join(dir, "data"), ...args], { env: cleanEnv(dir, env) });

describe("a server that can't start says why in one line and how to mend it", () => {
  test("the port is taken", async ({ expect }) => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { code, stderr } = await serve(tempDir(), ["--port", String(port)]);
    other.close();
    expect(code).toBe(7);
    expect(stderr.trim()).toBe(
      `kb serve: Port ${port} of 127.0.0.1 is in use by another program. Stop it, or choose another port with --port.`,
    );
  });

  test("another server uses the folder, and a killed one lets go of it", async ({ expect }) => {
    const dir = tempDir();
    const first = await startServerProcess(join(dir, "data"));
    const second = await serve(dir, ["--port", "0"]);
    expect(second.code).toBe(7);
    expect(second.stderr).toMatch(/^kb serve: Another kb server is using the data folder .*\n$/);
    first.child.kill("SIGKILL");
    await new Promise((resolve) => first.child.once("exit", resolve));
    const third = await startServerProcess(join(dir, "data"));
    expect(await third.stop()).toBe(0);
  });

  test("the data folder is a file", async ({ expect }) => {
    const dir = tempDir();
    writeFileSync(join(dir, "data"), "");
    const { code, stderr } = await serve(dir, ["--port", "0"]);
    expect(code).toBe(7);
    expect(stderr).toMatch(/can't be written. Choose another with --data-dir/);
  });

  test.runIf(process.platform === "linux")("the data folder can't be made", async ({ expect }) => {
    const dir = tempDir();
    const { code, stderr } = await runKb(["serve", "--data-dir", "/proc/kb"], { env: cleanEnv(dir) });
    expect(code).toBe(7);
    expect(stderr).toMatch(
      /^kb serve: The data folder \/proc\/kb can't be written\. Choose another with --data-dir.*\n$/,
    );
    mkdirSync(join(dir, "notes"));
    const notes = ["quickstart", join(dir, "notes"), "--data-dir", "/proc/kb"];
    const quickstart = await runKb(notes, { env: cleanEnv(dir) });
    expect(quickstart.code).toBe(7);
    expect(quickstart.stderr).toMatch(/The folder \/proc\/kb can't be made \(ENOENT\)/);
  });

  test("the database is damaged, empty, or without its key", async ({ expect }) => {
    const dir = tempDir();
    await (await startServerProcess(join(dir, "data"))).stop();
    const file = join(dir, "data", "kb.db");
    const key = join(dir, "data", "secret.key");
    renameSync(key, `${key}.away`);
    const keyless = await serve(dir, ["--port", "0"]);
    expect(keyless.code).toBe(7);
    expect(keyless.stderr).toContain(`The key file ${key} is missing, and ${file} was used with it. Restore it`);
    renameSync(`${key}.away`, key);
    writeFileSync(file, "no database at all", { flag: "r+" });
    const damaged = await serve(dir, ["--port", "0"]);
    expect(damaged).toMatchObject({ code: 7 });
    expect(damaged.stderr).toBe(
      `kb serve: The database ${file} can't be opened (file is not a database). It is damaged. Restore it from a backup.\n`,
    );
    truncateSync(file);
    const empty = await serve(dir, ["--port", "0"]);
    expect(empty.code).toBe(7);
    expect(empty.stderr).toMatch(/kb\.db is empty, but .*secret\.key shows that it was used/);
  });

  test("a number that is none, an unknown setting, PostgreSQL", async ({ expect }) => {
    const dir = tempDir();
    const port = await serve(dir, ["--port", "80a"]);
    expect(port).toMatchObject({ code: 2, stderr: 'kb serve: --port "80a" is not a port (1-65535).\n' });
    const misspelt = await serve(dir, [], { KB_PUBLIC_ULR: "https://kb.test" });
    expect(misspelt).toMatchObject({ code: 2 });
    expect(misspelt.stderr).toMatch(/Did you mean KB_PUBLIC_URL\?/);
    const postgres = await serve(dir, [], { KB_DATABASE_URL: "postgres://db/kb" });
    expect(postgres).toMatchObject({
      code: 2,
      stderr: "kb serve: KB_DATABASE_URL belongs to a later version of kb. Remove it.\n",
    });
  });
});

test("everything that a server makes in its folder is its own alone, and what was open is closed and said once", async ({
  expect,
}) => {
  const data = join(tempDir(), "data");
  const first = await startServerProcess(data);
  const modes = () =>
    Object.fromEntries(readdirSync(data).map((name) => [name, statSync(join(data, name)).mode & 0o77]));
  expect(Object.keys(modes())).toEqual(
    expect.arrayContaining(["kb.db", "kb.db-shm", "kb.db-wal", "lock", "secret.key"]),
  );
  expect(Object.values(modes()).every((open) => open === 0)).toBe(true);
  await first.stop();
  chmodSync(data, 0o755);
  chmodSync(join(data, "kb.db"), 0o644);
  const second = await startServerProcess(data);
  await second.stop();
  const said = second.output().match(/^.*Other users of this machine could read these.*$/gm) ?? [];
  expect(said.map((line) => JSON.parse(line).paths)).toEqual([[data, join(data, "kb.db")]]);
  expect([statSync(data).mode & 0o777, statSync(join(data, "kb.db")).mode & 0o777]).toEqual([0o700, 0o600]);
});

describe("a server that is told to end", () => {
  test("finishes what is in flight and exits with 0", async ({ expect }) => {
    const server = await startServerProcess(join(tempDir(), "data"));
    const admin = await signInAdmin(server.url);
    const access = { visibility: "workspace" };
    const body = { providerId: "push", name: "tracker", config: {}, access };
    const { connector, key } = (await admin("POST", "/api/connectors", body)).json;
    const line = (n: number) =>
      `${JSON.stringify({ t: "upsert", item: { externalId: `T-${n}`, kind: "task", title: `Task ${n}`, access: { known: true, all: [["workspace"]] } } })}\n`;
    const upload = request(`${server.url}/api/connectors/${connector.id}/items`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/x-ndjson" },
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) =>
      upload.once("response", resolve).once("error", reject),
    );
    // More than a server reads at once, so that the request is known to have begun.
    upload.write(Array.from({ length: 200 }, (_, n) => line(n)).join(""));
    const answer = await answered;
    const ended = server.stop();
    upload.end(line(200));
    expect((await text(answer)).trim().split("\n")).toHaveLength(201);
    expect(await ended).toBe(0);
    expect(server.output()).toMatch(/"msg":"stopped"/);
  });

  test("answers 503 at /readyz and serves on for KB_DRAIN_S, and a second signal ends it at once", async ({
    expect,
  }) => {
    const server = await startServerProcess(join(tempDir(), "data"), { KB_DRAIN_S: "600" });
    const statusOf = async (path: string) => (await fetch(server.url + path)).status;
    expect(await statusOf("/readyz")).toBe(200);
    const ended = server.stop();
    await expect.poll(() => statusOf("/readyz")).toBe(503);
    // New connections are served as before.
    expect(await statusOf("/healthz")).toBe(200);
    expect((await signInAdmin(server.url).then((admin) => admin("GET", "/api/session"))).status).toBe(200);
    server.child.kill("SIGTERM");
    expect(await ended).toBe(130);
  });

  test("prints the setup code to the person and not to the log", async ({ expect }) => {
    const dir = tempDir();
    const server = await startServerProcess(join(dir, "data"), { KB_BOOTSTRAP_EMAIL: "", KB_BOOTSTRAP_PASSWORD: "" });
    const code = /^Setup code: (\S+)/m.exec(server.output())?.[1];
    expect(code).toMatch(/^[2-9a-z-]{20,}$/);
    const logged = server
      .output()
      .split("\n")
      .filter((line) => line.startsWith("{"));
    expect(logged.join("\n")).not.toContain(code);
    expect(server.output()).toContain(`Setup link: ${server.url}/welcome#code=${code}`);
    await server.stop();
    const settled = await startServerProcess(join(dir, "settled"), {});
    expect(settled.output()).toContain(`Sign in with a browser at ${settled.url}, or run: kb login ${settled.url}`);
    await settled.stop();
  });
});

test("the operator sets a password beside the running server, which knows it at once", async ({ expect }) => {
  const dir = tempDir();
  const server = await startServerProcess(join(dir, "data"));
  const admin = await signInAdmin(server.url);
  const args = ["admin", "set-password", ADMIN.email, "--data-dir", join(dir, "data"), "--password-stdin"];
  const { code, stderr } = await runKb(args, { env: cleanEnv(dir), input: "green lamp evening\n" });
  expect(stderr).toMatch(/^The password of admin@acme\.test is set\./);
  expect(code).toBe(0);
  expect((await admin("GET", "/api/session")).status).toBe(401);
  const signIn = await fetch(`${server.url}/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: ADMIN.email, password: "green lamp evening" }),
  });
  expect(signIn.status).toBe(200);
  expect(await server.stop()).toBe(0);
  // Without a server: one more owner, and no way into a folder that holds no installation.
  const reopened = await runKb(["admin", "reopen-setup", "--data-dir", join(dir, "data")], { env: cleanEnv(dir) });
  expect(reopened.code).toBe(0);
  expect(reopened.stdout).toMatch(/^[2-9a-z-]{32}\n$/);
  const nowhere = await runKb(["admin", "setup-code", "--data-dir", join(dir, "no")], { env: cleanEnv(dir) });
  expect(nowhere.code).toBe(7);
  expect(nowhere.stderr).toContain("There is no installation in");
});
