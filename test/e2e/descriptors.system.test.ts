/** A server with few open files: a crowd of connections that ask nothing, and runs that find none left. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import { tempDir } from "../temp-dir.ts";
import { BOOTSTRAP, cleanEnv, CLI, signInAdmin, startServerProcess } from "./server-process.ts";

const [OPEN_FILES, CONNECTIONS] = [256, 400];

test("a crowd of idle connections ends no server, which says what to do and goes on answering", async ({ expect }) => {
  const dir = tempDir();
  const command = `ulimit -n ${OPEN_FILES}; exec "$0" "$1" serve --port 0 --data-dir "$2"`;
  const child = spawn("bash", ["-c", command, process.execPath, CLI, join(dir, "data")], {
    env: cleanEnv(dir, BOOTSTRAP),
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (part: Buffer) => (said += part.toString("utf8")));
  }
  await expect.poll(() => said).toMatch(/listening on http:/u);
  const url = /listening on (http:\S+)/u.exec(said)?.[1] ?? "";

  const sockets = Array.from({ length: CONNECTIONS }, () => connect(Number(new URL(url).port), "127.0.0.1"));
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  // Refused ones end with an error or without one.
  await Promise.all(
    sockets.map(
      (socket) => new Promise((settle) => socket.once("connect", settle).once("close", settle).once("error", settle)),
    ),
  );
  await expect.poll(() => said).toContain("Open files are near the limit");
  await expect
    .poll(() =>
      // Node's client waits for ever for one that is closed before its request is read.
      fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) }).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  expect(child.exitCode).toBeNull();
  expect(said).not.toContain("EMFILE");
});

const FILES = 120;

interface Run {
  mode: string;
  state: string;
  counts: { failed: number };
}

const isOpen = ({ state }: Run) => ["queued", "running", "waiting"].includes(state);

describe.runIf(process.platform === "linux")("a run while no file can be opened", () => {
  test.concurrent.for([0, 3, 10, 12])("waits, fails no file, and goes on: %i files left", async (left, context) => {
    const { expect } = context;
    const dir = tempDir(context.onTestFinished);
    const root = join(dir, "docs");
    mkdirSync(root);
    const server = await startServerProcess(join(dir, "data"), { KB_LOCAL_ROOTS: root }, (stop) =>
      context.onTestFinished(stop),
    );
    const call = await signInAdmin(server.url);
    const made = await call("POST", "/api/connectors", {
      providerId: "filesystem",
      name: "Docs",
      config: { root },
      access: { visibility: "workspace" },
    });
    expect(made).toMatchObject({ status: 201 });
    const path = `/api/connectors/${made.json.connector.id}/syncs`;
    const runs = async (): Promise<Run[]> => (await call("GET", path)).json.syncs ?? [];
    const newest = async () => (await runs()).find(({ mode }) => mode !== "identities");
    await expect.poll(newest, { timeout: 30_000 }).toMatchObject({ state: "succeeded" });

    for (const folder of ["a", "b"]) {
      mkdirSync(join(root, folder));
      writeFileSync(join(root, folder, ".gitignore"), "private.md\n");
      writeFileSync(join(root, folder, "private.md"), "left out by a rule");
      for (let i = 0; i < FILES / 2; i++) writeFileSync(join(root, folder, `${i}.md`), `# Page ${i}\n\nherring ${i}\n`);
    }
    const limit = (files: number) => execFileSync("prlimit", [`--pid=${server.child.pid}`, `--nofile=${files}:`]);
    limit(readdirSync(`/proc/${server.child.pid}/fd`).length + left);
    expect(await call("POST", path, { mode: "full" })).toMatchObject({ status: 202 });
    await expect
      .poll(newest, { timeout: 30_000 })
      .toSatisfy(({ state }: Run) => !["queued", "running"].includes(state));
    limit(1_024);
    // The change of the folder asks for a run of its own, and either may be the one that takes the files.
    const indexed = async () => (await call("GET", path.replace("/syncs", ""))).json.connector?.counts.indexed;
    await expect.poll(indexed, { timeout: 30_000 }).toBe(FILES);
    await expect.poll(async () => (await runs()).some(isOpen), { timeout: 30_000 }).toBe(false);
    expect((await runs()).map(({ counts }) => counts.failed)).toSatisfy((failed: number[]) =>
      failed.every((n) => n === 0),
    );
    expect(server.output()).not.toContain("kb has a bug");
  });
});
