import { sql as raw } from "kysely";
import { SyncState as SyncStateSchema } from "#api/connector-records.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { firstOf, recordsOf } from "#storage/results.ts";
import { SYNC_SKIPS, SYNCS } from "#storage/tables/syncs.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { pageOf } from "./pages.ts";

export { NO_COUNTS } from "#storage/tables/syncs.ts";
export type { PeopleFirst, SyncCounts, SyncProgress } from "#storage/tables/syncs.ts";

/** One run of a connector. Times are epoch milliseconds. */
export type SyncRecord = RecordOf<typeof SYNCS>;
/** States as the contract defines them: a run has the same mode, trigger and state over REST as in the records. */
export const SYNC_STATES = SyncStateSchema.options;
export type SyncMode = SyncRecord["mode"];
export type SyncTrigger = SyncRecord["trigger"];
export type SyncState = SyncRecord["state"];
export type SyncSkip = RecordOf<typeof SYNC_SKIPS>;

export type SyncPatch = Partial<Omit<SyncRecord, "syncId" | "connectorId" | "createdAt">>;

/** States of a run that has not ended. */
export const OPEN_SYNC_STATES: readonly SyncState[] = ["queued", "running", "waiting", "cancelling"];

/** Reads and writes runs of connectors. */
export function makeSyncStore(sql: SqlHandles, workspaceId: string) {
  const syncs = inWorkspace(sql, workspaceId, SYNCS);

  /** Selects finished runs, the newest first. */
  const finished = (connectorId: string, line: Line) =>
    syncs
      .select({ connectorId })
      .where("finishedAt", "is not", null)
      .where(LINES[line])
      .orderBy("createdAt", "desc")
      .limit(1);
  const findLast = (connectorId: string, line: Line) => firstOf(SYNCS, finished(connectorId, line).selectAll());
  /** Selects unfinished runs, the oldest first. */
  const open = (where: { connectorId?: string; mode?: "identities" } = {}) =>
    syncs.select(where).selectAll().where("state", "in", OPEN_SYNC_STATES).orderBy("createdAt").orderBy("syncId");

  async function trim(connectorId: string, keep: number, line: Line): Promise<void> {
    const oldest = await finished(connectorId, line).select("createdAt").offset(keep).executeTakeFirst();
    if (!oldest) return;
    await syncs
      .deleting({ connectorId })
      .where("finishedAt", "is not", null)
      .where(LINES[line])
      .where("createdAt", "<=", oldest.createdAt)
      .execute();
  }

  return {
    create: syncs.insert,

    find: (syncId: string) => syncs.find({ syncId }),

    update: (syncId: string, patch: SyncPatch) => syncs.update({ syncId }, patch),

    /** Returns runs of a connector after this one, the newest first, at most `limit`. */
    list(connectorId: string, limit: number, after?: { createdAt: number; syncId: string }): Promise<SyncRecord[]> {
      const page = { limit, after: after && { value: after.createdAt, id: after.syncId } };
      const runs = syncs.select({ connectorId }).selectAll();
      return recordsOf(SYNCS, pageOf(runs, ["createdAt", "syncId"], "desc", page));
    },

    /** Returns unfinished runs of these connectors, without identity runs, the oldest first. */
    async listOpen(connectorIds: readonly string[]): Promise<SyncRecord[]> {
      if (connectorIds.length === 0) return [];
      return recordsOf(SYNCS, open().where("connectorId", "in", connectorIds).where("mode", "<>", "identities"));
    },

    /** Returns unfinished identity runs of a connector, the oldest first. */
    listOpenIdentities: (connectorId: string) => recordsOf(SYNCS, open({ connectorId, mode: "identities" })),

    /** Returns the newest finished identity run of a connector. */
    findLastIdentities: (connectorId: string) => findLast(connectorId, "identities"),

    /**
     * Returns the newest finished run of each of these connectors, without identity runs and runs that only read items
     * again.
     */
    async listLast(connectorIds: readonly string[]): Promise<SyncRecord[]> {
      const last: SyncRecord[] = [];
      for (const connectorId of connectorIds) {
        const run = await findLast(connectorId, "items");
        if (run) last.push(run);
      }
      return last;
    },

    /** Returns a sample of the items that a run left out. */
    listSkips(syncId: string): Promise<SyncSkip[]> {
      const skips = inWorkspace(sql, workspaceId, SYNC_SKIPS).select({ syncId }).selectAll();
      return recordsOf(SYNC_SKIPS, skips.orderBy("externalId"));
    },

    /**
     * Deletes finished runs of a connector beyond the newest `keep`, and likewise those that only read items again.
     * Identity runs are trimmed separately.
     */
    async trim(connectorId: string, keep: number): Promise<void> {
      await trim(connectorId, keep, "items");
      await trim(connectorId, Math.ceil(keep / 5), "readers");
    },

    /** Deletes finished identity runs of a connector beyond the newest `keep`. */
    trimIdentities: (connectorId: string, keep: number): Promise<void> => trim(connectorId, keep, "identities"),
  };
}

/**
 * The kinds of runs. Each kind is trimmed separately, so that many runs of one kind don't push out those of another.
 */
const LINES = {
  items: raw<boolean>`"mode" <> 'identities' and "trigger" <> 'reader'`,
  readers: raw<boolean>`"mode" <> 'identities' and "trigger" = 'reader'`,
  identities: raw<boolean>`"mode" = 'identities'`,
};
type Line = keyof typeof LINES;
