import type { Log } from "./log.ts";

/**
 * An error that only a bug in kb itself, or in a library that kb uses, can cause. Records where it happened, without
 * its message.
 */
export interface Fault {
  name: string;
  /** Lines of the stack, the innermost first. Each names a function of the program and its place in the built files. */
  frames: string[];
}

const FAULTS: readonly string[] = ["TypeError", "ReferenceError", "RangeError", "NotLoaded"];
const MAX_FRAMES = 12;
const MAX_FRAME_CHARS = 300;
/** Matches `at name (file:line:column)`, or `at file:line:column`. Names that come from a document can't match. */
const FRAME =
  /^at (?:(?:async |new )*[\w$.<>#[\] ]{1,120} \()?(?:file:\/\/\/|node:|\/|[A-Za-z]:[\\/])[^\s()]{1,200}:\d+:\d+\)?$/u;

/**
 * Returns the fault of kb that caused an error, if any: a `TypeError`, `ReferenceError` or `RangeError` without the
 * `code` or the cause that `URL`, decoders and `fetch` add to theirs; or a part of the program that could not be
 * loaded. Parsers also throw these errors at hostile files. Source: S57.
 */
export function findFault(error: unknown): Fault | undefined {
  if (!(error instanceof Error) || !FAULTS.includes(error.name)) return undefined;
  if (error.name === "NotLoaded") return { name: error.name, frames: framesOf(error.cause) };
  if ("code" in error && error.code !== undefined) return undefined;
  // `fetch` wraps errors this way: the cause is the actual error.
  if (error.cause instanceof Error) return findFault(error.cause);
  return { name: error.name, frames: framesOf(error) };
}

/**
 * Whether an error is a mistake of the program: code met a value that it doesn't expect. Errors that kb throws on
 * purpose, and those of SQLite, the system and the network, which have a `code`, aren't.
 */
export function isMistake(error: unknown): boolean {
  return error instanceof Error && !("code" in error && error.code !== undefined);
}

/** Returns the class of any error and where it happened, without its message, which may quote a file. Source: S57. */
export function withoutWords(error: unknown): Fault {
  return { name: error instanceof Error ? nameOf(error) : typeof error, frames: framesOf(error) };
}

/**
 * Parses a fault that another process sent. A hostile file may have taken over that process. Undefined for anything
 * else.
 */
export function parseFault(value: unknown): Fault | undefined {
  if (typeof value !== "object" || value === null || !("name" in value) || !("frames" in value)) return undefined;
  const { name, frames } = value;
  if (typeof name !== "string" || !FAULTS.includes(name) || !Array.isArray(frames)) return undefined;
  return { name, frames: frames.filter(isFrame).slice(0, MAX_FRAMES) };
}

/** Writes faults to the server's log. */
export interface FaultLog {
  /** Logs a fault as an error with its stack, once per place and hour. `about` contains ids, never text of a file. */
  note(fault: Fault, about: Record<string, string>): void;
}

const AGAIN_MS = 3_600_000;
const MAX_PLACES = 500;

/** Makes a log of faults. `now` returns epoch milliseconds. */
export function makeFaultLog(log: Pick<Log, "error">, now: () => number): FaultLog {
  const noted = new Map<string, number>();
  return {
    note({ name, frames }, about) {
      const place = `${name} ${frames[0] ?? "?"}`;
      const before = noted.get(place);
      if (before !== undefined && now() < before + AGAIN_MS) return;
      if (noted.size >= MAX_PLACES) noted.clear();
      noted.set(place, now());
      log.error({ ...about, fault: name, stack: frames }, "kb has a bug");
    },
  };
}

function nameOf({ name }: Error): string {
  return /^\w{1,60}$/u.test(name) ? name : "Error";
}

/**
 * Returns the stack without its beginning, which repeats the message. The message may have lines that look like stack
 * frames.
 */
function framesOf(error: unknown): string[] {
  if (!(error instanceof Error) || error.stack === undefined) return [];
  const { stack, message } = error;
  const at = message === "" ? 0 : stack.indexOf(message);
  // The message isn't the one that the stack begins with, so where it ends is unknown.
  if (at < 0) return [];
  return stack
    .slice(at + message.length)
    .split("\n")
    .map((line) => line.trim())
    .filter(isFrame)
    .slice(0, MAX_FRAMES);
}

function isFrame(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_FRAME_CHARS && FRAME.test(value);
}
