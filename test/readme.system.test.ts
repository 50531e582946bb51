import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { isInstalled, newcomer, shellBlocks } from "./e2e/newcomer.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const BLOCKS = shellBlocks(README);
const USUAL_URL = "http://127.0.0.1:7700";

test("every command of the README does what it says, in order", async ({ expect }) => {
  const [install, tests, search, curl, push, team, ...rest] = BLOCKS;
  expect(rest).toEqual([]);
  // Installing and testing are what .ci/run and this very run do.
  expect(tests).toBe("npm ci --ignore-scripts && npm test\n");
  expect(install).toBe("npm ci --ignore-scripts && npm start\n");

  const { home, run } = newcomer();
  const started = await run("npm start", ROOT);
  expect(started).toMatchObject({ code: 0, stdout: expect.stringMatching(/\d+ files searchable\.\n\n\$ kb search /) });
  const url = /^MCP URL: (http:\S+)\/mcp$/m.exec(started.stdout)?.[1] ?? "";
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);

  const found = await run(search ?? "");
  expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining("Permissions: who can read what") });

  expect(curl).toContain(`curl -sS ${USUAL_URL}/mcp`);
  // The one change: another port, when 7700 is taken on this machine.
  const called = await run((isInstalled("curl") ? (curl ?? "") : (curl?.split("\n")[0] ?? "")).replace(USUAL_URL, url));
  expect(called.code, called.stderr).toBe(0);
  if (isInstalled("curl")) expect(called.stdout).toMatch(/"result":\{"content".*Permissions: who can read what/);

  const pushed = await run(push ?? "");
  expect(pushed).toMatchObject({ code: 0, stdout: expect.stringContaining('"result":"upserted"') });
  expect(pushed.stdout.split("\n").at(-2)).toContain("Renew the certificate");
  expect(statSync(join(home, "tickets.key")).mode & 0o777).toBe(0o600);
  expect(pushed.stdout + pushed.stderr).not.toContain(readFileSync(join(home, "tickets.key"), "utf8").trim());

  expect(await run(team ?? "")).toMatchObject({ code: 0, stdout: expect.stringContaining("kb serve") });
  expect(await run("kb stop")).toMatchObject({ code: 0, stderr: `Stopped the server at ${url}.\n` });
  // Some fifteen programs one after the other: on a machine with other work that takes longer than one test may.
}, 120_000);

test("the pages that the README names are there", ({ expect }) => {
  const links = [...README.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path]) => path ?? "");
  expect(links.length).toBeGreaterThan(8);
  for (const path of links) expect(statSync(join(ROOT, path)).isFile() || path.endsWith("/"), path).toBe(true);
});
