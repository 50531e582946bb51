import { NO_COUNTS, type SyncCounts } from "#storage/records/syncs.ts";
import type { PeopleRun } from "#storage/people-batch.ts";
import type { PeopleWork } from "./people-work.ts";

/**
 * Adds this transaction's changes to the counts of the run that reports them. Groups and users are counted like items.
 * Users don't record who reported them, so they are counted with a checkpoint. An attempt that gets further than
 * earlier attempts is counted like the first one.
 */
export function savePeopleRun(
  { counts, tallied, all, change }: PeopleWork,
  { syncId, addCounts = {} }: PeopleRun,
  { isCovered, isFurther }: { isCovered: boolean; isFurther: boolean },
): void {
  const [row] = all("select counts, attempt from syncs where workspaceId = ? and syncId = ?", syncId);
  if (!row) return;
  // Only this function, `saveRun` and the code that creates a run write this column.
  const total: SyncCounts = { ...NO_COUNTS, ...(JSON.parse(String(row["counts"])) as Partial<SyncCounts>) };
  const users = isCovered ? counts.identities : 0;
  total.seen += tallied.groups + users + (addCounts.seen ?? 0);
  total.upserted += tallied.groups - tallied.unchanged;
  total.unchanged += tallied.unchanged;
  total.deleted += counts.ended;
  total.skipped += addCounts.skipped ?? 0;
  const hasMore = isFurther || tallied.groups > 0 || counts.ended > 0;
  change(
    "update syncs set counts = ?3, attempt = ?4 where workspaceId = ?1 and syncId = ?2",
    syncId,
    JSON.stringify(total),
    hasMore ? 1 : Number(row["attempt"]),
  );
}
