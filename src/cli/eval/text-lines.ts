/** Text files of a person, read line by line, and what is wrong with them by line number. */
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { plural } from "#api/plural.ts";
import { usageFailure } from "#cli/failure.ts";

/** A line that can't be read. Lines count from 1. */
export interface BadLine {
  line: number;
  why: string;
}

const MAX_BYTES = 64 * 1024 * 1024;
const SHOWN = 10;

/** The text of a file. Throws a usage failure when it can't be read, is no UTF-8, or is larger than 64 MB. */
export async function readText(file: string, cwd: string): Promise<string> {
  const path = resolve(cwd, file);
  const failed = (cause: Error): never => {
    throw usageFailure(`Can't read ${file}: ${cause.message}.`);
  };
  const info = await stat(path).catch(failed);
  if (!info.isFile()) throw usageFailure(`${file} is not a file.`);
  if (info.size > MAX_BYTES) throw usageFailure(`${file} is larger than 64 MB.`);
  const bytes = await readFile(path).catch(failed);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw usageFailure(`${file} is not UTF-8 text.`);
  }
}

/** Every line that isn't empty, with its number. */
export function* linesOf(text: string): Generator<{ line: number; text: string }> {
  let line = 0;
  for (const whole of text.split("\n")) {
    line += 1;
    const trimmed = whole.trim();
    if (trimmed !== "") yield { line, text: trimmed };
  }
}

/** Throws a usage failure that names the first ten bad lines; returns when there are none. */
export function refuseBad(file: string, bad: readonly BadLine[]): void {
  if (bad.length === 0) return;
  const shown = bad.slice(0, SHOWN).map(({ line, why }) => `  line ${line}: ${why}`);
  const more = bad.length > SHOWN ? [`  and ${plural(bad.length - SHOWN, "more line")}`] : [];
  throw usageFailure([`${file} has ${plural(bad.length, "bad line")}:`, ...shown, ...more].join("\n"));
}
