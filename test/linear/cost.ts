import { CASES, outcomeOf } from "./cases.ts";
import type { Reader } from "./exports.ts";

/**
 * CPU time of this process for one call, in milliseconds, or for the longest turn of one that lets others have theirs; the least
 * of so many tries that anything below `enough` ends.
 */
export async function costOf(work: () => unknown, enough: number, tries = 4): Promise<number> {
  let least = Infinity;
  for (let tried = 0; tried < tries && least > enough; tried++) least = Math.min(least, await longestTurn(work));
  return least;
}

async function longestTurn(work: () => unknown): Promise<number> {
  let before = process.cpuUsage();
  let [longest, isOver] = [0, false];
  const endTurn = () => {
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.cpuUsage();
  };
  const result = outcomeOf(work);
  if (result instanceof Promise) {
    const turn = () => {
      endTurn();
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    await result.catch(() => undefined);
    isOver = true;
  }
  endTurn();
  return longest;
}

/** The control, and how much of it: a quarter of a millisecond for 64 kB on a quiet machine. */
const CONTROL_BYTES = 64 * 1024;
const CONTROL_TEXT = "\u00e9a ".repeat(CONTROL_BYTES / 4);
/** As many times the control may a text take that is as long: 20 ms a MB on a quiet machine. */
export const MOST_TIMES = 5;

/** What one look at each character of so many bytes costs here and now, in milliseconds. */
export async function control(bytes: number): Promise<number> {
  const one = await costOf(() => CONTROL_TEXT.replace(/\p{L}+/gu, "b"), 0, 8);
  return (one * bytes) / CONTROL_BYTES;
}

/** What only the terminal of one reader waits for, and what counts or looks for words in a thread of its own. */
export const NOT_ON_MAIN = /^src\/cli\/|#(?:makeTokenCounter|findMarks|findPassages|bestSnippets)$/;

/** How a reader is called with a text: by its case, or with the text alone. */
export async function callOf(reader: Pick<Reader, "id" | "file" | "name">): Promise<(text: string) => unknown> {
  const known = CASES[reader.id];
  if (known !== undefined) return known;
  const loaded: Record<string, unknown> = await import(`../../${reader.file}`);
  const found = loaded[reader.name];
  if (typeof found !== "function") throw new Error(`${reader.id} is no function.`);
  return (text) => found(text) as unknown;
}
