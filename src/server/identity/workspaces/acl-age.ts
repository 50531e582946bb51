import { believedUntil } from "#storage/access/clocks.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";

/**
 * Applies a changed maximum age of permissions: sources and providers report the permissions again at once. If a
 * connector's permissions were too old under the previous limit, the connector is read in full. Call it in a
 * transaction.
 */
export async function askAgain(
  { access, accounts, connectors, identitySchedules }: WorkspaceStore,
  { before, now }: { before: number; now: number },
): Promise<void> {
  // Sources whose permissions are current until a certain time also report them again.
  await access.raiseEpoch();
  await identitySchedules.scheduleNow(now);
  await accounts.scheduleNow(now);
  for (const { connectorId, nextRunAt, aclCheckedAt } of await connectors.list()) {
    const isDark = aclCheckedAt !== null && believedUntil(aclCheckedAt, { now, maxAclAgeMs: before }) === undefined;
    if (nextRunAt === null) continue;
    await connectors.update(connectorId, { nextRunAt: now, ...(isDark && { lastFullAt: null }) });
  }
}
