import { nullOr } from "#storage/conditions.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { changesOf } from "#storage/results.ts";
import type { PROVIDER_ACCOUNTS } from "#storage/tables/accounts.ts";
import type { CONNECTION_SECRETS } from "#storage/tables/servers.ts";

/** The column values of tokens that no one is renewing. */
export const UNLOCKED = { lockedBy: null, lockedUntil: null };

/**
 * Reads and writes sealed tokens, each of which only one caller at a time renews.
 *
 * @param rowOf   returns which row has the tokens of an id @param usable  further conditions for a row whose tokens may
 * be renewed
 */
export function makeTokenLock(
  sql: SqlHandles,
  workspaceId: string,
  table: typeof PROVIDER_ACCOUNTS | typeof CONNECTION_SECRETS,
  rowOf: (id: string) => { accountId: string } | { connectionId: string },
  usable: { state?: "active" } = {},
) {
  const rows = inWorkspace(sql, workspaceId, table);
  return {
    /**
     * Lets exactly one caller renew the tokens, until the caller has stored them or the lock expires.
     *
     * @param version  of the tokens that are too old
     * @returns false when another caller holds the lock, or the tokens have changed
     */
    async lock(id: string, version: number, lock: { by: string; now: number; until: number }): Promise<boolean> {
      const locked = rows
        .updating({ ...rowOf(id), version, ...usable })
        .set({ lockedBy: lock.by, lockedUntil: lock.until })
        .where((eb) => nullOr(eb, "lockedUntil", "<=", lock.now));
      return (await changesOf(locked)) === 1;
    },

    /** Stores the lock holder's new tokens and releases the lock. Returns false when the caller no longer holds it. */
    async putLocked(
      id: string,
      lockedBy: string,
      { sealed, expiresAt }: { sealed: string; expiresAt: number | null },
    ): Promise<boolean> {
      const put = rows
        .updating({ ...rowOf(id), lockedBy })
        .set((eb) => ({ sealed, expiresAt, ...UNLOCKED, version: eb("version", "+", 1) }));
      return (await changesOf(put)) === 1;
    },

    unlock: (id: string, lockedBy: string) => rows.update({ ...rowOf(id), lockedBy }, UNLOCKED),

    /** Replaces the envelope of the same tokens, unless the tokens were replaced in the meantime. */
    reseal: (id: string, before: string, after: string) =>
      rows.update({ ...rowOf(id), sealed: before }, { sealed: after }),
  };
}
