import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdirSync, openSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { tempDir } from "../temp-dir.ts";
import { ADMIN, cleanEnv, runKb, type ServerProcess, signInAdmin, startServerProcess } from "./server-process.ts";

test.runIf(process.platform === "linux")(
  "a program that can't start exits with 7 and one line, whichever command it was",
  async () => {
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
  },
);

test("a command that has not ended when its test does is killed", async () => {
  const dir = tempDir();
  let end: () => void = () => undefined;
  const running = runKb(["serve", "--port", "0", "--data-dir", join(dir, "data")], { env: cleanEnv(dir) }, (stop) => {
    end = stop;
  });
  end();
  expect(await running).toMatchObject({ code: null });
});

test("a server that is told to end answers 503 at /readyz and serves on for KB_DRAIN_S, and a second signal ends it", async () => {
  const server = await startServerProcess(join(tempDir(), "data"), { KB_DRAIN_S: "600" });
  const statusOf = async (path: string) => (await fetch(server.url + path)).status;
  expect(await statusOf("/readyz")).toBe(200);
  const ended = server.stop();
  await expect.poll(() => statusOf("/readyz")).toBe(503);
  // New connections are served as before.
  expect(await statusOf("/healthz")).toBe(200);
  expect((await signInAdmin(server.url).then((admin) => admin("GET", "/api/session"))).status).toBe(200);
  server.child.kill("SIGTERM");
  expect([await ended, server.child.signalCode]).toEqual([null, "SIGTERM"]);
});

test(
  "the operator sets a password beside the running server, which knows it at once; a killed one lets go of its folder, and the next one finishes what is in flight and exits with 0",
  // Five programs one after the other: on a machine with other work that takes longer than one test may.
  { timeout: 120_000 },
  async () => {
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
    server.child.kill("SIGKILL");
    await once(server.child, "exit");
    // Without a server: one more owner, and no way into a folder that holds no installation.
    const reopened = await runKb(["admin", "reopen-setup", "--data-dir", join(dir, "data")], { env: cleanEnv(dir) });
    expect(reopened.code).toBe(0);
    expect(reopened.stdout).toMatch(/^[2-9a-z-]{32}\n$/);
    const nowhere = await runKb(["admin", "setup-code", "--data-dir", join(dir, "no")], { env: cleanEnv(dir) });
    expect(nowhere.code).toBe(7);
    expect(nowhere.stderr).toContain("There is no installation in");
    await endInFlight(await startServerProcess(join(dir, "data")), "green lamp evening");
  },
);

/** Tells a server to end in the middle of an upload: it is finished, and the server exits with 0. */
async function endInFlight(server: ServerProcess, password: string): Promise<void> {
  const admin = await signInAdmin(server.url, password);
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
}

/** The writing end of a pipe that nobody reads any more. */
function closedPipe(dir: string): number {
  const path = join(dir, "pipe");
  execFileSync("/usr/bin/env", ["mkfifo", path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, "w");
  closeSync(reader);
  return writer;
}

test.runIf(process.platform === "linux").for(["a full device", "a closed pipe"] as const)(
  "a server whose log goes to %s serves on, and says at its end what was lost",
  async (where) => {
    const dir = tempDir();
    const log = where === "a full device" ? openSync("/dev/full", "w") : closedPipe(dir);
    const server = await startServerProcess(join(dir, "data"), {}, onTestFinished, {}, log);
    closeSync(log);
    const admin = await signInAdmin(server.url);
    for (let i = 0; i < 5; i++) expect((await admin("GET", "/api/session")).status).toBe(200);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await server.stop()).toBe(0);
    expect(server.output()).toMatch(/^\d+ log lines were lost: the log could not be written\.$/m);
  },
);
