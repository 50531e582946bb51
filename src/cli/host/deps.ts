/** A command's access to everything outside itself; tests pass their own implementation. */
import type { Readable, Writable } from "node:stream";
import { interrupted, usageFailure } from "./failure.ts";
import type { Fetch } from "./http.ts";
import type { Keychain } from "./keychain.ts";

export interface Io {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  isStdinTty: boolean;
  isStdoutTty: boolean;
  isStderrTty: boolean;
  /** Width of the terminal in characters; 80 when unknown. */
  columns(): number;
}

export interface CliClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Prompts {
  text(message: string, options?: { initial?: string; placeholder?: string }): Promise<string>;
  password(message: string): Promise<string>;
  confirm(message: string): Promise<boolean>;
  select(message: string, choices: readonly { value: string; label: string }[]): Promise<string>;
}

/** How to start this program again as another process. */
export interface Program {
  command: string;
  /** Precedes the arguments of `kb`. */
  prefix: readonly string[];
}

export interface Deps {
  io: Io;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  home: string;
  platform: NodeJS.Platform;
  fetch: Fetch;
  clock: CliClock;
  prompts: Prompts;
  /** Aborts on Ctrl-C and when the process receives a signal to end. */
  signal: AbortSignal;
  randomBytes(count: number): Uint8Array;
  program: Program;
  keychain: Keychain;
  /**
   * For a command whose output is a log: after this call, a closed stdout, or a full disk behind it, doesn't end the process. Returns stdout's
   * descriptor.
   */
  outliveStdout(): number;
  /** Notifies the parent process, if it listens, that the server answers on `port`. */
  announceReady(port: number): void;
  /** Opens an http(s) address in the person's browser; false when that failed. */
  openUrl(address: string): Promise<boolean>;
}

/** Whether a command may prompt: stdin and stdout must be a terminal, and no option may forbid it. */
export function canAsk(deps: Deps, options: { input?: boolean }): boolean {
  const isAutomated = deps.env["CI"] !== undefined && deps.env["CI"] !== "" && deps.env["CI"] !== "false";
  return deps.io.isStdinTty && deps.io.isStderrTty && !isAutomated && options.input !== false;
}

/** Continues only after `--yes` or the person's confirmation. Without a terminal the flag is required. */
export async function confirmed(
  options: { input?: boolean; yes: boolean },
  deps: Deps,
  question: string,
): Promise<void> {
  if (options.yes) return;
  if (!canAsk(deps, options)) throw usageFailure(`${question} There is no terminal to ask on.`, "Add --yes.");
  if (!(await deps.prompts.confirm(question))) throw interrupted("Nothing was changed.");
}
