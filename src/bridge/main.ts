/** Runs the bridge from stdin to stdout until the host is gone. */
import type { Readable, Writable } from "node:stream";
import { makeFrameReader, parseFrame, tooLong } from "./frames.ts";
import { makeHandshake } from "./handshake.ts";
import { makePost } from "./post.ts";
import { makeRelay } from "./relay.ts";
import { makeSession, type FindLogin } from "./session.ts";

export type LogLevel = "debug" | "info" | "warn";

export interface BridgeOptions {
  stdin: Readable;
  stdout: Writable;
  findLogin: FindLogin;
  /** Writes one line per event to the log; never to stdout. */
  log(level: LogLevel, message: string): void;
  /** Aborts when the process receives a signal to end. */
  signal: AbortSignal;
  /** Milliseconds for the remaining answers after stdin ends; default 5,000. */
  lastAnswersMs?: number;
  /** Milliseconds for the server's tool list; default 4,000. */
  listMs?: number;
}

/** How long requests in flight may take after stdin ends: a piped request needs its answer. */
const LAST_ANSWERS_MS = 5_000;
/** Shorter than the shortest time that hosts allow for their start (10 s), and shorter than the time that a piped request has. */
const LIST_MS = 4_000;
/** The last line may lack a line break. */
const NEWLINE = new Uint8Array([10]);

/**
 * Relays MCP between the host on stdin/stdout and the server, until stdin ends, stdout breaks or the signal aborts.
 * After the end of stdin, requests in flight have `lastAnswersMs` (5 s) to be answered; everything else is aborted,
 * also at the server.
 *
 * @returns the exit code: 0, also after a signal, which is how hosts end their servers
 */
export async function runBridge(options: BridgeOptions): Promise<number> {
  const { stdin, stdout, log, signal } = options;
  const relay = makeRelay({
    post: makePost(),
    session: makeSession(options.findLogin),
    handshake: makeHandshake(),
    emit: (line) => void stdout.write(`${line}\n`),
    log,
    wait: waitFor,
    now: steadyMs,
    listMs: options.listMs ?? LIST_MS,
  });
  const reader = makeFrameReader(
    (line) => relay.accept(parseFrame(line)),
    () => relay.accept(tooLong()),
  );
  // Aborts when no one waits for answers any more: the host asked the bridge to end, or stopped reading.
  const gone = new AbortController();
  const reason = await new Promise<string>((resolve) => {
    function leave(why: string): void {
      gone.abort();
      resolve(why);
    }
    // If the host went away during startup, the stream has already ended and no event follows.
    if (stdin.readableEnded || stdin.destroyed) resolve("stdin has ended");
    if (signal.aborted) leave("stopped by a signal");
    signal.addEventListener("abort", () => leave("stopped by a signal"), { once: true });
    stdin.once("end", () => resolve("stdin has ended"));
    stdin.once("close", () => resolve("stdin was closed"));
    stdin.once("error", (error) => resolve(`stdin failed: ${error.message}`));
    stdout.once("close", () => leave("stdout was closed"));
    stdout.on("error", (error) => leave(`stdout failed: ${error.message}`));
    stdin.on("data", (chunk: Uint8Array) => reader.push(chunk));
  });
  if (!gone.signal.aborted) reader.push(NEWLINE);
  await Promise.race([relay.settled(), waitFor(options.lastAnswersMs ?? LAST_ANSWERS_MS, gone.signal)]);
  gone.abort();
  relay.close();
  log("debug", reason);
  return 0;
}

/** Not `performance`: its first use loads seven modules. */
function steadyMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
