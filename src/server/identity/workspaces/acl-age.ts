import { believedUntil } from "#storage/access/clocks.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";

/**
 * Applies a changed maximum age of permissions: sources and providers are asked for them again at once. Connectors
 * whose permissions were too old under the former limit are read in full. Call it in a transaction.
 */
export async function askAgain(
  { access, accounts, connectors, identitySchedules }: WorkspaceStore,
  { before, now }: { before: number; now: number },
): Promise<void> {
  // Sources that count as current until a certain time are asked again too.
  await access.raiseEpoch();
  await identitySchedules.scheduleNow(now);
  await accounts.scheduleNow(now);
  for (const { connectorId, nextRunAt, aclCheckedAt } of await connectors.list()) {
    const isDark = aclCheckedAt !== null && believedUntil(aclCheckedAt, { now, maxAclAgeMs: before }) === undefined;
    if (nextRunAt === null) continue;
    await connectors.update(connectorId, { nextRunAt: now, ...(isDark && { lastFullAt: null }) });
  }
}
