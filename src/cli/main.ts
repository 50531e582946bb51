#!/usr/bin/env node
/** `kb`: checks Node, answers --version at once, wires the process to the command line, and is the one to exit. */
import { VERSION } from "#api/version.ts";
import type { Deps } from "./deps.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isTooOld = major < 20 || (major === 20 && minor < 19);
const [first] = process.argv.slice(2);

if (isTooOld) {
  process.stderr.write(`kb: Node.js 20.19 or newer is needed, this is ${process.versions.node}.\n`);
  process.exit(1);
} else if (first === "--version" || first === "-V") {
  process.stdout.write(`${VERSION}\n`);
} else {
  void start();
}

async function start(): Promise<void> {
  // Everything else is loaded after the check above: old versions could not even read it.
  const { makeDeps } = await import("./process.ts");
  const deps = makeDeps(process, (exitCode) => process.exit(exitCode));
  const code = await run(process.argv.slice(2), deps);
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(code);
}

async function run(argv: readonly string[], deps: Deps): Promise<number> {
  if (first === "mcp" || first === "bridge") {
    const [{ readMcpArgv }, { mcp }] = await Promise.all([import("./mcp-argv.ts"), import("./commands/mcp.ts")]);
    const input = readMcpArgv(argv);
    if (input !== undefined) return await mcp(input, deps);
  }
  const { runCli } = await import("./run.ts");
  return await runCli(argv, deps);
}

/** Resolves when what was written has left the process; a reader that is gone has nothing to wait for. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) resolve();
    else stream.write("", () => resolve());
  });
}
