#!/usr/bin/env node
/**
 * The entry point of `kb`: checks Node's version, answers --version at once, and connects the process to the command line. Only this file exits the
 * process.
 */
import { VERSION } from "#api/version.ts";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const isTooOld = major < 20 || (major === 20 && minor < 19);
const [first] = process.argv.slice(2);
const VERSION_WORDS = ["version", "-v", "-V", "--version"];

if (isTooOld) {
  process.stderr.write(`kb needs Node.js 20.19 or newer; this is ${process.versions.node}.\n`);
  process.exit(1);
} else if (first !== undefined && VERSION_WORDS.includes(first) && process.argv.length === 3) {
  process.stdout.write(`${VERSION}\n`);
} else {
  void start();
}

async function start(): Promise<void> {
  // Everything else is loaded after the check above, because old versions of Node couldn't even parse it.
  const code = (await runMcp()) ?? (await runAny());
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(code);
}

/** Runs the bridge without the modules of other commands; undefined when the command line needs the full parser. */
async function runMcp(): Promise<number | undefined> {
  if (first !== "mcp" && first !== "bridge") return undefined;
  const { makeHost, readMcpArgv, runMcp } = await import("./start/mcp-entry.ts");
  const input = readMcpArgv(process.argv.slice(2));
  return input && (await runMcp(input, makeHost(process, exit)));
}

async function runAny(): Promise<number> {
  const [{ makeDeps }, { runCli }] = await Promise.all([import("./start/process.ts"), import("./start/run.ts")]);
  return await runCli(process.argv.slice(2), makeDeps(process, exit));
}

function exit(code: number): never {
  process.exit(code);
}

/** Resolves when the output has been written; at once if the reader is closed. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) resolve();
    else stream.write("", () => resolve());
  });
}
