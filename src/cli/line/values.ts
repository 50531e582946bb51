/** Values as people type them: durations, numbers, key=value pairs, secrets by reference, stdin. */
import { closest } from "#core/edit-distance.ts";
import type { Deps } from "#cli/host/deps.ts";
import { usageFailure } from "#cli/host/failure.ts";
import { readNamed } from "#cli/host/unreadable.ts";

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses "90", "90s", "10m", "2h" or "30d" to milliseconds; a bare number is seconds. Throws a usage failure. */
export function parseDuration(text: string, name: string): number {
  const match = /^(\d{1,9})(ms|s|m|h|d)?$/.exec(text.trim());
  if (match === null) throw usageFailure(`${name} "${text}" is not a duration.`, "Write 90s, 10m, 2h or 30d.");
  return Number(match[1]) * (UNIT_MS[match[2] ?? "s"] ?? 1000);
}

/** Parses a duration to seconds; undefined when the option is absent. */
export function parseSeconds(text: string | undefined, name: string): number | undefined {
  return text === undefined ? undefined : Math.round(parseDuration(text, name) / 1000);
}

/** Parses a whole number within bounds; undefined when the option is absent. Throws a usage failure. */
export function parseInteger(text: string | undefined, name: string, min: number, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw usageFailure(`${name} "${text}" is not a whole number from ${min} to ${max}.`);
}

/** Splits `key=value` at the first equals sign. Throws a usage failure. */
export function parsePair(text: string, name: string): [key: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw usageFailure(`${name} "${text}" is not key=value.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Makes the body of a change. @throws CliFailure (usage) with the command to get `help` from, when every key is omitted */
export function changes<B extends object>(help: string, body: NoInfer<B>): B {
  if (Object.values(body).some((value) => value !== undefined)) return body;
  throw usageFailure("Nothing to change.", help);
}

/** Returns the list of a repeatable option; undefined if it is empty, because an empty list isn't sent. */
export function someOf<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

/** Reads a secret that is named by reference, never by value: `@FILE`, `env:NAME`, or `-` for stdin. Throws a usage failure. */
export async function readSecret(reference: string, name: string, deps: Pick<Deps, "env" | "io">): Promise<string> {
  if (reference === "-") return (await readStdin(deps)).trim();
  if (reference.startsWith("@")) {
    const path = reference.slice(1);
    return (await readNamed(path, `${name}: ${path}`)).trim();
  }
  if (reference.startsWith("env:")) {
    const value = deps.env[reference.slice(4)];
    if (value !== undefined && value !== "") return value;
    throw usageFailure(`${name}: the variable ${reference.slice(4)} is not set.`);
  }
  throw usageFailure(
    `${name} takes a reference, not the secret itself: other users could see it in the process list.`,
    `Write ${name}=@FILE, ${name}=env:VARIABLE, or ${name}=- for stdin.`,
  );
}

/** Reads everything on stdin as text. */
export async function readStdin(deps: Pick<Deps, "io">): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of deps.io.stdin) parts.push(Buffer.from(part as Uint8Array | string));
  return Buffer.concat(parts).toString("utf8");
}

/** Reads the text of a file, or of stdin for `-`. @throws CliFailure (usage) that begins with `what` */
export async function readInput(path: string, what: string, deps: Pick<Deps, "io">): Promise<string> {
  return path === "-" ? await readStdin(deps) : await readNamed(path, what);
}

/** Reads a JSON object from a file, or from stdin for `-`. Throws a usage failure. */
export async function readJsonObject(
  path: string,
  name: string,
  deps: Pick<Deps, "io">,
): Promise<Record<string, unknown>> {
  const text = await readInput(path, `${name}: ${path}`, deps);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw usageFailure(`${name} ${path} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}.`);
  }
  // The cast is safe because an object that is neither null nor an array has string keys.
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw usageFailure(`${name} ${path} is not a JSON object.`);
}

/** Returns ` Did you mean …?` with the nearest of `choices` between `marks`; empty when none is similar. */
export function didYouMean(word: string, choices: readonly string[], marks = ""): string {
  const near = nearest(word, choices);
  return near === undefined ? "" : ` Did you mean ${marks}${near}${marks}?`;
}

/** Returns the nearest of `choices` to a mistyped word; undefined when none is similar. */
export function nearest(word: string, choices: readonly string[]): string | undefined {
  return closest(word, choices, Math.max(1, Math.floor(word.length / 3)));
}
