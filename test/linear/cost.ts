import { CASES, outcomeOf } from "./cases.ts";
import type { Reader } from "./exports.ts";

/** CPU time of this process for one call, in milliseconds; the least of so many tries that anything below `enough` ends. */
export async function costOf(work: () => unknown, enough: number, tries = 4): Promise<number> {
  let least = Infinity;
  for (let tried = 0; tried < tries && least > enough; tried++) {
    const before = process.cpuUsage();
    const result = outcomeOf(work);
    if (result instanceof Promise) await result.catch(() => undefined);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

/** How a reader is called with a text: by its case, or with the text alone. */
export async function callOf(reader: Pick<Reader, "id" | "file" | "name">): Promise<(text: string) => unknown> {
  const known = CASES[reader.id];
  if (known !== undefined) return known;
  const loaded: Record<string, unknown> = await import(`../../${reader.file}`);
  const found = loaded[reader.name];
  if (typeof found !== "function") throw new Error(`${reader.id} is no function.`);
  return (text) => found(text) as unknown;
}
