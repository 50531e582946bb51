import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { findFreePort } from "../e2e/newcomer.ts";
import { cleanEnv } from "../e2e/server-process.ts";
import { CLI } from "../program.ts";
import { tempDir } from "../temp-dir.ts";

test("a server whose program is replaced says so where it needs the new files, and goes on after a restart", async () => {
  const home = tempDir();
  // A copy of the installed program that the test may change.
  const program = join(home, "program");
  cpSync(join(CLI, "../.."), program, { recursive: true });
  const dist = join(program, "dist");
  const old = readFileSync(join(dist, "build.json"), "utf8");
  for (const folder of ["first", "second"]) {
    mkdirSync(join(home, folder));
    writeFileSync(
      join(home, folder, "page.md"),
      `---\ntitle: The ${folder} harbour\n---\n${"Tides and boats. ".repeat(60)}\n`,
    );
  }
  const env = cleanEnv(home, { KB_PORT: String(await findFreePort()), KB_LOCAL_ROOTS: home });
  const kb = (...args: string[]) =>
    promisify(execFile)(process.execPath, [join(dist, "cli.js"), ...args], { cwd: home, env });
  onTestFinished(() => kb("stop").then(() => undefined));
  await kb("quickstart", "first");
  const url = `http://127.0.0.1:${env["KB_PORT"]}`;
  const token = (await kb("tokens", "create", "update")).stdout.trim();

  // Another build: its threads and children are others, and chunks that only the old one had are gone.
  writeFileSync(join(dist, "build.json"), old.replace(/"build":"\w+"/u, '"build":"another"'));
  const gone = readdirSync(dist).filter((name) => /^(?:webdav|gitea|slack)-/u.test(name));
  for (const name of gone) renameSync(join(dist, name), join(dist, `${name}.gone`));
  // A long answer is counted in a thread, which only such an answer starts.
  const params = { name: "kb_search", arguments: { query: "tides", detail: "detailed", maxTokens: 200 } };
  const answer = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  expect(await answer.text()).toContain("restart_needed: kb was updated while it was running. Restart it");
  await kb("connectors", "add", "filesystem", "--set", `root=${join(home, "second")}`, "--name", "second");
  const { results } = JSON.parse((await kb("search", "harbour", "--json")).stdout) as { results: { title: string }[] };
  expect(results.map(({ title }) => title)).toContain("The first harbour");

  expect((await fetch(`${url}/healthz`)).status).toBe(200);

  writeFileSync(join(dist, "build.json"), old);
  for (const name of gone) renameSync(join(dist, `${name}.gone`), join(dist, name));
  await kb("stop");
  await kb("quickstart", "first");
  await kb("connectors", "sync", "second", "--wait");
  const again = JSON.parse((await kb("search", "harbour", "--json")).stdout) as { results: { title: string }[] };
  expect(again.results.map(({ title }) => title)).toEqual(
    expect.arrayContaining(["The first harbour", "The second harbour"]),
  );
}, 120_000);
