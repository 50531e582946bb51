import { count } from "#api/plural.ts";
import type { SyncRecord } from "./records.ts";

type Skip = SyncRecord["skips"][number];

/** Maximum number of names that are listed; the others are only counted. */
const MOST = 10;

/** Lists items that a run skipped or couldn't read, one per line: the reason, and the name if this person may know it. */
export function describeSkips({ skips, counts }: Pick<SyncRecord, "skips" | "counts">): string[] {
  const failed = skips.filter(({ reason }) => reason === "failed").map(lineOf);
  const named = skips.filter((skip) => skip.reason !== "failed" && skip.externalId !== null).map(lineOf);
  const leftOut = counts.skipped > 0 ? [`${count(counts.skipped)} left out${listReasons(counts.reasons)}`] : [];
  return [...failed.slice(0, MOST), ...leftOut, ...named.slice(0, MOST), ...more(named.length, counts.skipped)];
}

/** Formats reasons as `: generated 3, excluded by policy 1`; empty when no reasons are known. */
export function listReasons(reasons: Readonly<Record<string, number>> | undefined): string {
  const numbers = Object.entries(reasons ?? {}).filter(([, number]) => number > 0);
  if (numbers.length === 0) return "";
  const words = numbers
    .toSorted((a, b) => b[1] - a[1])
    .map(([reason, number]) => `${asWords(reason)} ${count(number)}`);
  return `: ${words.join(", ")}`;
}

/** Formats one line for a skipped item. */
export function lineOf({ externalId, message, reason }: Skip): string {
  return `${externalId ?? "an item"}: ${message ?? asWords(reason)}`;
}

function asWords(reason: string): string {
  return reason.replaceAll("_", " ");
}

function more(named: number, all: number): string[] {
  const shown = Math.min(named, MOST);
  return shown > 0 && all > shown ? [`and ${count(all - shown)} more`] : [];
}
