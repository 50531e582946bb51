/** The bridge's life: stdin in, stdout out, over when the host is gone. */
import type { Readable, Writable } from "node:stream";
import { makeFrameReader, parseFrame } from "./frames.ts";
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
}

/**
 * Relays MCP between the host on stdin/stdout and the server, until stdin ends, stdout breaks or the signal aborts.
 * What is in flight then is aborted, at the server too.
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
    now: () => performance.now(),
  });
  const reader = makeFrameReader(
    (line) => relay.accept(parseFrame(line)),
    () => relay.accept({ kind: "invalid", id: null, code: -32600, message: "Invalid request: the line is too long." }),
  );
  const reason = await new Promise<string>((resolve) => {
    // A host that went away while we started has already ended the stream: no event will come.
    if (stdin.readableEnded || stdin.destroyed) resolve("stdin has ended");
    if (signal.aborted) resolve("told to end");
    signal.addEventListener("abort", () => resolve("told to end"), { once: true });
    stdin.once("end", () => resolve("stdin has ended"));
    stdin.once("close", () => resolve("stdin was closed"));
    stdin.once("error", (error) => resolve(`stdin failed: ${error.message}`));
    stdout.on("error", (error) => resolve(`stdout failed: ${error.message}`));
    stdin.on("data", (chunk: Uint8Array) => reader.push(chunk));
  });
  relay.close();
  log("debug", reason);
  return 0;
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
