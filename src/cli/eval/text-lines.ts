/** Reads a person's text files line by line, and reports errors by line number. */
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { plural } from "#api/plural.ts";
import { usageFailure } from "#cli/host/failure.ts";
import { whyUnreadable } from "#cli/host/unreadable.ts";

/** A line that can't be parsed. The first line has number 1. */
export interface BadLine {
  line: number;
  why: string;
}

const MAX_BYTES = 64 * 1024 * 1024;
const SHOWN = 10;
const MAX_QUOTED = 80;

/** Returns the text of a file. Throws a usage failure when it can't be read, isn't UTF-8, or is larger than 64 MB. */
export async function readText(file: string, cwd: string): Promise<string> {
  const path = resolve(cwd, file);
  const failed = (cause: unknown): never => {
    throw usageFailure(`${file} can't be read: ${whyUnreadable(cause)}.`);
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

/** Yields every nonempty line with its number. */
export function* linesOf(text: string): Generator<{ line: number; text: string }> {
  let line = 0;
  for (let from = 0; from <= text.length;) {
    const end = text.indexOf("\n", from);
    const to = end < 0 ? text.length : end;
    line += 1;
    const trimmed = text.slice(from, to).trim();
    if (trimmed !== "") yield { line, text: trimmed };
    from = to + 1;
  }
}

/** The bad lines of a file: the first ten, and their total number. A file that isn't in this format may have millions. */
export type BadLines = ReturnType<typeof makeBadLines>;

export function makeBadLines() {
  const first: BadLine[] = [];
  let total = 0;
  return {
    push(bad: BadLine): void {
      total += 1;
      if (first.length < SHOWN) first.push(bad);
    },
    /** Throws a usage failure that lists the first ten bad lines; returns when there are none. */
    refuse(file: string): void {
      if (total === 0) return;
      const shown = first.map(({ line, why }) => `  line ${line}: ${why}`);
      const more = total > SHOWN ? [`  and ${plural(total - SHOWN, "more line")}`] : [];
      throw usageFailure([`${file} has ${plural(total, "bad line")}:`, ...shown, ...more].join("\n"));
    },
  };
}

/** Shortens text from a file for quoting in a message, because the whole file may be a single word. */
export function quoted(text: string): string {
  return text.length > MAX_QUOTED ? `"${text.slice(0, MAX_QUOTED)}…"` : `"${text}"`;
}
