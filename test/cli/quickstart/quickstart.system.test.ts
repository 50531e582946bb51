import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished, test } from "vitest";
import { kb, makeWorld, type FakeWorld } from "../fakes.ts";

const FAKE_SERVE = new URL("fake-serve.mjs", import.meta.url).pathname;

/** A machine with a folder of notes, on which `kb serve` is the stand-in; its server is ended with the test. */
function machine(more: Record<string, string> = {}): FakeWorld {
  const world = makeWorld({
    env: { KB_PUBLIC_URL: "https://other.test", KB_LOG_LEVEL: "warn", KB_TOKEN: "kb_pat_of_another_server", ...more },
    real: {
      fetch,
      clock: { now: () => Date.now(), sleep: (ms) => sleep(ms) },
      program: { command: process.execPath, prefix: [FAKE_SERVE] },
    },
  });
  for (const name of ["notes", "broken"]) mkdirSync(join(world.dir, name));
  writeFileSync(join(world.dir, "notes/plan.md"), "the plan");
  onTestFinished(() => {
    const { pid } = server(world);
    if (typeof pid === "number") process.kill(pid, "SIGKILL");
  });
  return world;
}

/** A port that nobody has now. */
async function freePort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  listener.close();
  await once(listener, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

function server(world: FakeWorld): Record<string, unknown> {
  const path = join(world.dir, "data/server.json");
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>) : {};
}

const run = (world: FakeWorld, ...more: string[]) => kb(world, "quickstart", "notes", "--data-dir", "data", ...more);

test("from nothing: a server, an admin, a connector, a sync, one answered search, the lines for clients", async ({
  expect,
}) => {
  const world = machine();
  const first = await run(world);
  expect([first.code, first.stderr]).toEqual([0, expect.stringContaining("Started the server")]);
  expect(first.stderr).toContain("The web page: kb open, with the address and the password in ");
  for (const text of [
    "1 file searchable",
    "3,554 found by name only: unsupported type 3,500, empty 54.",
    "1 left out: unsupported type 1.",
    "$ kb search quarterly plan",
    "Quarterly plan.md",
    "MCP URL: http://127.0.0.1:",
    "claude mcp add",
  ]) {
    expect(first.stdout).toContain(text);
  }
  const url = String(server(world)["url"]);
  const { args, inherited } = JSON.parse(readFileSync(join(world.dir, "data/server.log"), "utf8")) as Record<
    string,
    string[]
  >;
  expect(args).toEqual([
    "serve",
    "--host",
    "127.0.0.1",
    "--port",
    new URL(url).port,
    "--data-dir",
    join(world.dir, "data"),
  ]);
  // What belongs to another installation does not reach the child.
  expect(inherited).toEqual([
    "KB_BOOTSTRAP_EMAIL",
    "KB_BOOTSTRAP_PASSWORD",
    "KB_CONFIG_DIR",
    "KB_LOG_FILE",
    "KB_LOG_LEVEL",
  ]);
});

test("the port is that of KB_PORT, unless --port names another", async ({ expect }) => {
  const [one, two] = [await freePort(), await freePort()];
  const first = machine({ KB_PORT: String(one) });
  await run(first);
  expect(server(first)["url"]).toBe(`http://127.0.0.1:${one}`);
  const second = machine({ KB_PORT: "not one" });
  await run(second, "--port", String(two));
  expect(server(second)["url"]).toBe(`http://127.0.0.1:${two}`);
  const third = await run(machine({ KB_PORT: "70000" }));
  expect([third.code, third.stderr]).toEqual([2, expect.stringContaining('KB_PORT "70000"')]);
});

test("two at once never take each other's server", async ({ expect }) => {
  const first = machine();
  await run(first);
  await kb(first, "stop", "--data-dir", "data");
  const second = machine();
  // Both want the port that they had.
  cpSync(join(first.dir, "data"), join(second.dir, "data"), { recursive: true });
  const answers = await Promise.all([run(first), run(second)]);
  expect(answers.map(({ code }) => code)).toEqual([0, 0]);
  expect(server(first)["url"]).not.toBe(server(second)["url"]);
  expect(server(first)["pid"]).not.toBe(server(second)["pid"]);
});

test("a port that was taken in the same moment is told, and its server is not used", async ({ expect }) => {
  const [first, second] = [machine(), machine()];
  const port = String(await freePort());
  const answers = await Promise.all([run(first, "--port", port), run(second, "--port", port)]);
  expect(answers.map(({ code }) => code).sort()).toEqual([0, 7]);
});

test("no token and no password is printed, and the files that hold them are the person's own", async ({ expect }) => {
  const world = machine();
  const first = await run(world);
  const admin = JSON.parse(readFileSync(join(world.dir, "data/admin.json"), "utf8")) as { password: string };
  expect(first.stdout + first.stderr).not.toMatch(new RegExp(`kb_pat_[A-Za-z]|COOKIE|${admin.password}`));
  for (const path of [
    "data/admin.json",
    "data/server.json",
    "data/server.log",
    "config/credentials.json",
    "config/config.json",
  ]) {
    expect([path, statSync(join(world.dir, path)).mode & 0o077]).toEqual([path, 0]);
  }
  for (const name of readdirSync(join(world.dir, "notes"))) expect(name).toBe("plan.md");
});

test("a second run uses the same server, login, token and connector", async ({ expect }) => {
  const world = machine();
  await run(world);
  const before = server(world);
  const second = await run(world);
  expect([second.code, second.stderr]).toEqual([0, expect.stringContaining("Using the server")]);
  expect(server(world)).toEqual(before);
  const state = JSON.parse(readFileSync(join(world.dir, "data/kb.db"), "utf8")) as Record<string, unknown[]>;
  expect([state["connectors"]?.length, state["tokens"]?.length]).toEqual([1, 1]);
});

test("stop ends the server, and the next run starts one at the same address", async ({ expect }) => {
  const world = machine();
  // Neither the usual port nor one that the system gives away: once it is free, a test beside this one could have it.
  await run(world, "--port", String(20_000 + (process.pid % 10_000)));
  const { url, pid } = server(world);
  const stopped = await kb(world, "stop", "--data-dir", "data");
  expect([stopped.code, stopped.stderr]).toEqual([0, `Stopped the server at ${String(url)}.\n`]);
  expect(server(world)["pid"]).toBeNull();
  const again = await run(world);
  expect([again.code, server(world)["url"]]).toEqual([0, url]);
  expect(server(world)["pid"]).not.toBe(pid);
});

test("stop finds the folder of the profile in use", async ({ expect }) => {
  const world = machine();
  await run(world);
  const stopped = await kb(world, "stop");
  expect([stopped.code, stopped.stderr]).toEqual([0, `Stopped the server at ${String(server(world)["url"])}.\n`]);
  await run(world);
  // A login elsewhere ends nothing here; the profile of before still does.
  const config = join(world.dir, "config/config.json");
  const user = JSON.parse(readFileSync(config, "utf8")) as { currentProfile: string; profiles: object };
  const profiles = { ...user.profiles, away: { url: "https://away.test" } };
  writeFileSync(config, JSON.stringify({ currentProfile: "away", profiles }), { mode: 0o600 });
  const none = await kb(world, "stop");
  expect([none.code, none.stderr]).toEqual([0, expect.stringContaining("Another one: kb stop --data-dir FOLDER")]);
  const byProfile = await kb({ ...world, env: { ...world.env, KB_PROFILE: user.currentProfile } }, "stop");
  expect(byProfile.stderr).toContain("Stopped the server");
});

test("without a stored login and with a changed password it stops and says so", async ({ expect }) => {
  const world = machine();
  await run(world);
  rmSync(join(world.dir, "config"), { recursive: true });
  writeFileSync(join(world.dir, "data/admin.json"), JSON.stringify({ email: "admin@localhost", password: "other" }));
  const again = await run(world);
  expect([again.code, again.stderr]).toEqual([4, expect.stringContaining("kb login http://127.0.0.1:")]);
});

test("a sync with failed items is exit code 8, and the server keeps running", async ({ expect }) => {
  const world = machine();
  const first = await kb(world, "quickstart", "broken", "--data-dir", "data");
  expect([first.code, first.stdout]).toEqual([8, expect.stringContaining("x.bin: broken")]);
  expect((await fetch(`${String(server(world)["url"])}/readyz`)).status).toBe(200);
});

test("a server that does not start is reported with the end of its log", async ({ expect }) => {
  const world = machine();
  world.real.program = {
    command: process.execPath,
    prefix: ["-e", "console.error('port is broken'); process.exit(3)", "--"],
  };
  const first = await run(world);
  expect([first.code, first.stderr]).toEqual([7, expect.stringContaining("port is broken")]);
  expect(first.stderr).toContain("exit code 3");
});
