/** The bridge's life: stdin in, stdout out, over when the host is gone. */
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
  /** One line per event; never to stdout. */
  log(level: LogLevel, message: string): void;
  /** Aborts when the process is told to end. */
  signal: AbortSignal;
  /** Milliseconds for the answers still missing when stdin ends; 5,000 unless told. */
  lastAnswersMs?: number;
  /** Milliseconds that the server has to give its list of tools; 4,000 unless told. */
  listMs?: number;
}

/** How long requests that are in flight when stdin ends may still take: a piped request wants its answer. */
const LAST_ANSWERS_MS = 5_000;
/** Shorter than a host's start may take (the strictest gives 10 s), and than a piped request has. */
const LIST_MS = 4_000;
/** The last line may come without its end. */
const NEWLINE = new Uint8Array([10]);

/**
 * Relays MCP between the host on stdin/stdout and the server, until stdin ends, stdout breaks or the signal aborts.
 * After the end of stdin what is in flight has `lastAnswersMs` (5 s) to be answered; everything else is aborted, at the
 * server too.
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
  // Nobody waits for answers any more: the host told us to end, or does not read.
  const gone = new AbortController();
  const reason = await new Promise<string>((resolve) => {
    function leave(why: string): void {
      gone.abort();
      resolve(why);
    }
    // A host that went away while we started has already ended the stream: no event will come.
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

/** Not `performance`: the first touch of it loads seven modules. */
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
