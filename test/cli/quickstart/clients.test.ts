import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { test } from "vitest";
import { parseServerUrl } from "#api/server-url.ts";
import { makeOutput } from "#cli/terminal/output.ts";
import { printClients } from "#cli/quickstart/clients.ts";
import { tempDir } from "../../temp-dir.ts";

const SERVER = "http://127.0.0.1:7700";

/** A machine with the program in `home`, and `kb` on the path below `folder`. */
function machine(folder: string | undefined, home = "opt"): { PATH: string; script: string } {
  const dir = tempDir();
  const script = join(dir, home, "cli.js");
  mkdirSync(join(dir, home));
  writeFileSync(script, "");
  chmodSync(script, 0o755);
  if (folder === undefined) return { PATH: "/nowhere", script };
  mkdirSync(join(dir, folder), { recursive: true });
  symlinkSync(script, join(dir, folder, "kb"));
  return { PATH: `/nowhere:${join(dir, folder)}`, script };
}

async function linesOf({ PATH, script }: { PATH: string; script: string }, columns?: number): Promise<string[]> {
  const stdout = new PassThrough();
  const isStdoutTty = columns !== undefined;
  const io = {
    stdin: stdout,
    stdout,
    stderr: stdout,
    isStdinTty: isStdoutTty,
    isStdoutTty,
    isStderrTty: isStdoutTty,
    columns: () => columns ?? 80,
  };
  const program = { command: "/usr/bin/node", prefix: [script] };
  const deps = { io, env: { PATH }, platform: "linux" as const, program };
  await printClients(parseServerUrl(SERVER), deps, makeOutput({ options: {} }, deps));
  return String(stdout.read()).split("\n");
}

/** What each client gets when the lines are pasted into a shell. */
function pasted(lines: readonly string[]): string[] {
  const commands = lines.filter((line) => /^ {4}(claude|codex|gemini) |^ {6}\S/.test(line) && !line.includes('"'));
  const clients = ["claude", "codex", "gemini"].map((name) => `${name}() { printf '%s|' ${name} "$@"; echo; }`);
  const run = spawnSync("/bin/sh", ["-c", [...clients, ...commands].join("\n")], { encoding: "utf8" });
  return run.stdout.trim().split("\n");
}

const http = `claude|mcp|add|--transport|http|kb|${SERVER}/mcp|--header|Authorization: Bearer \${KB_TOKEN}|`;

test("are short where `kb` on the path is this program, and fit a terminal", async ({ expect }) => {
  const lines = await linesOf(machine("bin"), 80);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines).toContain(`    claude mcp add -s user kb -- kb mcp --url ${SERVER}`);
  expect(pasted(lines)).toEqual([
    `claude|mcp|add|-s|user|kb|--|kb|mcp|--url|${SERVER}|`,
    `codex|mcp|add|kb|--|kb|mcp|--url|${SERVER}|`,
    `gemini|mcp|add|-s|user|kb|kb|mcp|--url|${SERVER}|`,
    http,
  ]);
});

test.for([
  ["it is another program", "bin", "/elsewhere/cli.js"],
  ["it is nowhere", undefined, undefined],
  ["npx put it there for this run", "x/node_modules/.bin", undefined],
] as const)("name the program by its paths where %s, and paste as one", async ([, folder, other], { expect }) => {
  const here = machine(folder, "it's a long name of a folder");
  const script = other ?? here.script;
  const lines = await linesOf({ ...here, script }, 60);
  const bridge = `/usr/bin/node|${script}|mcp|--url|${SERVER}|`;
  expect(pasted(lines)).toEqual([
    `claude|mcp|add|-s|user|kb|--|${bridge}`,
    `codex|mcp|add|kb|--|${bridge}`,
    `gemini|mcp|add|-s|user|kb|${bridge}`,
    http,
  ]);
  const from = lines.findIndex((line) => line.includes('"command"'));
  const to = lines.findIndex((line) => line.includes("Over HTTP"));
  expect(JSON.parse(`{${lines.slice(from, to).join("\n")}}`)).toEqual({
    command: "/usr/bin/node",
    args: [script, "mcp", "--url", SERVER],
  });
});

test("are whole lines in a pipe", async ({ expect }) => {
  const lines = await linesOf(machine(undefined));
  expect(lines.filter((line) => line.endsWith("\\"))).toEqual([]);
  expect(pasted(lines).at(-1)).toBe(http);
});
