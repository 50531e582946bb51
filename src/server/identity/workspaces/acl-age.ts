import { believedUntil } from "#storage/access/clocks.ts";
import type { WorkspaceStore } from "#storage/store.ts";

/**
 * Permissions are believed for another time from now on: sources and providers are asked for them again at once. What was
 * too old by the former time, and is not by the new one, is read whole. Call it in a transaction.
 */
export async function askAgain(
  { access, accounts, connectors, identitySchedules }: WorkspaceStore,
  { before, now }: { before: number; now: number },
): Promise<void> {
  // Sources that were believed until another instant are asked again.
  await access.raiseEpoch();
  await identitySchedules.hasten(now);
  await accounts.hasten(now);
  for (const { connectorId, nextRunAt, aclCheckedAt } of await connectors.list()) {
    const isDark = aclCheckedAt !== null && believedUntil(aclCheckedAt, { now, maxAclAgeMs: before }) === undefined;
    if (nextRunAt === null) continue;
    await connectors.update(connectorId, { nextRunAt: now, ...(isDark && { lastFullAt: null }) });
  }
}
