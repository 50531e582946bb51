/** The real process in the form that every command needs. Loads nothing that isn't needed for the bridge's start. */
import { homedir } from "node:os";
import type { Deps } from "./deps.ts";
import { EXIT } from "./exit-codes.ts";
import { makeFetch } from "./http.ts";
import { makeKeychain } from "./keychain.ts";

/** The part of `Deps` that the process itself provides. */
export type Host = Pick<
  Deps,
  | "io"
  | "env"
  | "cwd"
  | "home"
  | "platform"
  | "clock"
  | "signal"
  | "fetch"
  | "keychain"
  | "outliveStdout"
  | "announceReady"
>;

const DEFAULT_COLUMNS = 80;

/**
 * Makes the host from this process. Ctrl-C and termination signals abort `signal`; a second such signal ends the process immediately, and a closed
 * stdout ends it through `exit`.
 */
export function makeHost(host: NodeJS.Process, exit: (code: number) => void): Host {
  const abort = new AbortController();
  const clock = { now: () => Date.now(), sleep };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    host.on(name, () => {
      // Closing a terminal sends SIGHUP more than once.
      if (abort.signal.aborted && name !== "SIGHUP") endBy(name, host, exit);
      abort.abort();
    });
  }
  // The reader of stdout is gone, as after `kb … | head`. The bridge also listens for this and ends the same way.
  let isOutlived = false;
  host.stdout.on("error", () => {
    if (!isOutlived) exit(EXIT.ok);
  });
  host.stderr.on("error", () => undefined);
  return {
    io: {
      // Accessing process.stdin opens it; only commands that read it do.
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
      // A terminal whose width is unknown reports 0.
      columns: () => host.stdout.columns || host.stderr.columns || DEFAULT_COLUMNS,
    },
    env: host.env,
    cwd: folderOr(() => host.cwd()),
    home: folderOr(homedir),
    platform: host.platform,
    clock,
    signal: abort.signal,
    fetch: makeFetch(),
    keychain: makeKeychain(clock),
    outliveStdout: () => {
      isOutlived = true;
      return host.stdout.fd;
    },
    announceReady: (port) => void host.send?.({ type: "ready", port }),
  };
}

/** Replaces a folder that can't be determined (it was removed, or this user has none) with one in which kb finds nothing. */
function folderOr(find: () => string): string {
  try {
    return find();
  } catch {
    // The working directory isn't used, because its author must not choose settings.
    return NO_FOLDER;
  }
}

const NO_FOLDER = "/nonexistent";

/**
 * Ends the process like an unhandled signal. `exit` would terminate its threads by force, and a thread inside a call to SQLite's binding would then
 * abort the process. The first process of a container can't be ended by its own signal: it continues to `exit`.
 */
function endBy(name: NodeJS.Signals, host: NodeJS.Process, exit: (code: number) => void): void {
  host.removeAllListeners(name);
  host.kill(host.pid, name);
  exit(EXIT.interrupted);
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
