/** The real process as the dependencies of commands. */
import { randomBytes } from "node:crypto";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Deps, Prompts } from "./deps.ts";
import { EXIT } from "./exit-codes.ts";

const DEFAULT_COLUMNS = 80;

/**
 * Dependencies on this process. Ctrl-C and end signals abort `signal`; a second Ctrl-C, or a reader of stdout that went
 * away, ends the process through `exit`.
 */
export function makeDeps(host: NodeJS.Process, exit: (code: number) => void): Deps {
  const abort = new AbortController();
  host.on("SIGINT", () => {
    if (abort.signal.aborted) exit(EXIT.interrupted);
    abort.abort();
  });
  for (const name of ["SIGTERM", "SIGHUP"] as const) host.on(name, () => abort.abort());
  // `kb … | head`: nobody reads any more. The bridge listens too and ends the same way.
  host.stdout.on("error", () => exit(EXIT.ok));
  host.stderr.on("error", () => undefined);
  return {
    io: {
      // Touching process.stdin opens it; only commands that read it do.
      get stdin() {
        return host.stdin;
      },
      stdout: host.stdout,
      stderr: host.stderr,
      get isStdinTty() {
        return host.stdin.isTTY === true;
      },
      isStdoutTty: host.stdout.isTTY === true,
      isStderrTty: host.stderr.isTTY === true,
      columns: () => host.stdout.columns ?? host.stderr.columns ?? DEFAULT_COLUMNS,
    },
    env: host.env,
    cwd: host.cwd(),
    home: homedir(),
    platform: host.platform,
    fetch: (input, init) => fetch(input, init),
    clock: { now: () => Date.now(), sleep },
    prompts: lazyPrompts(host),
    signal: abort.signal,
    randomBytes: (count) => randomBytes(count),
    program: { command: host.execPath, prefix: [...host.execArgv, resolve(host.argv[1] ?? "")] },
  };
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    signal?.throwIfAborted();
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      done();
    }, ms);
    function stop(): void {
      clearTimeout(timer);
      fail(signal?.reason instanceof Error ? signal.reason : new Error("Aborted"));
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}

function lazyPrompts(host: NodeJS.Process): Prompts {
  const load = async (): Promise<Prompts> => {
    const { makePrompts } = await import("./prompts.ts");
    return makePrompts({ stdin: host.stdin, stderr: host.stderr });
  };
  return {
    text: async (...args) => (await load()).text(...args),
    password: async (...args) => (await load()).password(...args),
    confirm: async (...args) => (await load()).confirm(...args),
    select: async (...args) => (await load()).select(...args),
  };
}
