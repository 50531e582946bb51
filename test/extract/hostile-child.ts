import net from "node:net";
import { readFileSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { analyzeDocument } from "#text/analyzer.ts";
import { runChild } from "#extract/child-loop.ts";
import type { Format, FormatText } from "#extract/format.ts";

/** A child whose plain text is what a hostile file might make a parser do. Started by the pool as the real one is. */
const hostileFormat: Format = {
  async extract({ decode }): Promise<FormatText> {
    const [act = "", argument = ""] = decode().text.trim().split(" ");
    const answer = await ACTS[act]?.(argument);
    return { state: "ok", text: typeof answer === "string" ? answer : `read ${act}`, sections: [], properties: {} };
  },
};

const hoard: unknown[] = [];
const ACTS: Record<string, (argument: string) => unknown> = {
  spin: () => {
    for (;;) hoard.length = 0;
  },
  hang: () => new Promise((resolve) => setTimeout(resolve, 1_000_000)),
  sleep: (ms) => new Promise((resolve) => setTimeout(() => resolve("slept"), Number(ms))),
  work: (ms) => {
    for (const from = cpuMs(); cpuMs() - from < Number(ms);) hoard.length = 0;
    return "worked";
  },
  buffers: () => {
    for (;;) hoard.push(Buffer.alloc(10_000_000, 1));
  },
  heap: () => {
    for (;;) hoard.push(Array.from({ length: 100_000 }, (_, index) => ({ index })));
  },
  exit: () => process.exit(0),
  kill: () => process.kill(process.pid, "SIGKILL"),
  // Only a child that had other files before dies: the next, fresh one reads it.
  once: () => (hoard.length > 0 ? process.exit(1) : "read at the second try"),
  remember: () => String(hoard.push(1)),
  noise: () => {
    process.stdout.write("noise\n".repeat(1_000));
    process.stderr.write("noise\n");
    return "quiet";
  },
  environment: () => JSON.stringify(process.env),
  read: (path) => attempt(() => readFileSync(path, "utf8")),
  write: (path) => attempt(() => writeFileSync(path, "x")),
  run: (path) => attempt(() => spawnSync(path).error?.message ?? "ran"),
  code: () => attempt(() => new Function("return 'evaluated'")()),
  connect: (port) => attempt(() => net.connect(Number(port), "127.0.0.1") && "connected"),
  fetch: (url) => attempt(() => fetch(url)),
  import: async (path) => {
    try {
      await import(path);
      return "imported";
    } catch (error) {
      return describe(error);
    }
  },
  pid: () => String(process.pid),
};

function attempt(act: () => unknown): string {
  try {
    return String(act());
  } catch (error) {
    return describe(error);
  }
}

function describe(error: unknown): string {
  return error instanceof Error
    ? `${"code" in error ? String(error.code) : error.name}: ${error.message}`
    : String(error);
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

await runChild(process.argv[2] ?? "{}", {
  analyze: analyzeDocument,
  now: () => performance.now(),
  cpuMs,
  formats: { "text/plain": { version: 1, load: async () => hostileFormat } },
});
