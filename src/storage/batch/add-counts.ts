import type { SyncCounts } from "#storage/records/syncs.ts";

/** Adds counts to earlier ones. A count that was absent stays absent if its sum is 0. */
export function addCounts<Counts extends Partial<SyncCounts>>(counts: Counts, more: Partial<SyncCounts>): Counts {
  const sum = { ...counts };
  // The keys on both sides have the same type.
  for (const name of Object.keys(more) as (keyof SyncCounts)[]) {
    if (name === "reasons") continue;
    const value = more[name] ?? 0;
    if (value !== 0 || sum[name] !== undefined) sum[name] = (sum[name] ?? 0) + value;
  }
  if (more.reasons === undefined) return sum;
  const reasons: Record<string, number> = { ...sum.reasons };
  for (const [reason, value] of Object.entries(more.reasons)) reasons[reason] = (reasons[reason] ?? 0) + value;
  return { ...sum, reasons };
}
