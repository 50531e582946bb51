import { type Selectable, sql as raw } from "kysely";
import { SyncState as SyncStateSchema } from "#api/connector-records.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import type { Tables } from "#storage/schema.ts";
import { SYNC_SKIPS, type SyncCounts, SYNCS } from "#storage/tables/syncs.ts";
import type { RecordOf } from "#storage/tables/table.ts";

export type { PeopleFirst, SyncCounts, SyncProgress } from "#storage/tables/syncs.ts";

/** One run of a connector. Times are epoch milliseconds. */
export type SyncRecord = RecordOf<typeof SYNCS>;
/** States of the contract: a run has the same mode, trigger and state over REST as in the records. */
export const SYNC_STATES = SyncStateSchema.options;
export type SyncMode = SyncRecord["mode"];
export type SyncTrigger = SyncRecord["trigger"];
export type SyncState = SyncRecord["state"];
export type SyncSkip = RecordOf<typeof SYNC_SKIPS>;

export type SyncPatch = Partial<Omit<SyncRecord, "syncId" | "connectorId" | "createdAt">>;

/** States of a run that is not over. */
export const OPEN_SYNC_STATES: readonly SyncState[] = ["queued", "running", "waiting", "cancelling"];

export const NO_COUNTS: SyncCounts = {
  seen: 0,
  upserted: 0,
  unchanged: 0,
  deleted: 0,
  skipped: 0,
  failed: 0,
  bytes: 0,
  parentMissing: 0,
};

/** Runs of connectors. */
export function makeSyncStore(sql: SqlHandles, workspaceId: string) {
  const syncs = inWorkspace(sql, workspaceId, SYNCS);

  async function trim(connectorId: string, keep: number, line: Line): Promise<void> {
    const oldest = await syncs
      .select({ connectorId })
      .select("createdAt")
      .where("finishedAt", "is not", null)
      .where(LINES[line])
      .orderBy("createdAt", "desc")
      .offset(keep)
      .limit(1)
      .executeTakeFirst();
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

    async find(syncId: string): Promise<SyncRecord | undefined> {
      const row = await syncs.select({ syncId }).selectAll().executeTakeFirst();
      return row && toRecord(row);
    },

    async update(syncId: string, patch: SyncPatch): Promise<void> {
      await syncs.update({ syncId }, patch);
    },

    /** Runs of a connector, the newest first, at most `limit`, after this one. */
    async list(
      connectorId: string,
      limit: number,
      after?: { createdAt: number; syncId: string },
    ): Promise<SyncRecord[]> {
      let query = syncs.select({ connectorId }).selectAll();
      if (after) query = query.where(raw<boolean>`("createdAt", "syncId") < (${after.createdAt}, ${after.syncId})`);
      const rows = await query.orderBy("createdAt", "desc").orderBy("syncId", "desc").limit(limit).execute();
      return rows.map(toRecord);
    },

    /** Unfinished runs of these connectors, the oldest first, without those of identities. */
    async listOpen(connectorIds: readonly string[]): Promise<SyncRecord[]> {
      if (connectorIds.length === 0) return [];
      const rows = await syncs
        .select()
        .selectAll()
        .where("connectorId", "in", connectorIds)
        .where("state", "in", OPEN_SYNC_STATES)
        .where("mode", "<>", "identities")
        .orderBy("createdAt")
        .orderBy("syncId")
        .execute();
      return rows.map(toRecord);
    },

    /** Unfinished identity runs of a connector, the oldest first. */
    async listOpenIdentities(connectorId: string): Promise<SyncRecord[]> {
      const rows = await syncs
        .select({ connectorId, mode: "identities" })
        .selectAll()
        .where("state", "in", OPEN_SYNC_STATES)
        .orderBy("createdAt")
        .orderBy("syncId")
        .execute();
      return rows.map(toRecord);
    },

    /** The newest finished identity run of a connector. */
    async findLastIdentities(connectorId: string): Promise<SyncRecord | undefined> {
      const row = await syncs
        .select({ connectorId, mode: "identities" })
        .selectAll()
        .where("finishedAt", "is not", null)
        .orderBy("createdAt", "desc")
        .limit(1)
        .executeTakeFirst();
      return row && toRecord(row);
    },

    /** The newest finished run of each of these connectors, without identity runs and those that only read again. */
    async listLast(connectorIds: readonly string[]): Promise<SyncRecord[]> {
      const last: SyncRecord[] = [];
      for (const connectorId of connectorIds) {
        const row = await syncs
          .select({ connectorId })
          .selectAll()
          .where("finishedAt", "is not", null)
          .where(LINES.items)
          .orderBy("createdAt", "desc")
          .limit(1)
          .executeTakeFirst();
        if (row) last.push(toRecord(row));
      }
      return last;
    },

    /** A sample of what a run left out. */
    async listSkips(syncId: string): Promise<SyncSkip[]> {
      const skips = inWorkspace(sql, workspaceId, SYNC_SKIPS).select({ syncId }).selectAll();
      return (await skips.orderBy("externalId").execute()).map(SYNC_SKIPS.read);
    },

    /** Deletes finished runs beyond the newest `keep` of a connector, and of those that only read again; those of identities apart. */
    async trim(connectorId: string, keep: number): Promise<void> {
      await trim(connectorId, keep, "items");
      await trim(connectorId, Math.ceil(keep / 5), "readers");
    },

    /** Deletes finished runs of identities beyond the newest `keep` of a connector. */
    trimIdentities: (connectorId: string, keep: number): Promise<void> => trim(connectorId, keep, "identities"),
  };
}

/** Runs of each kind are trimmed separately, so that many of one kind don't push out another. */
const LINES = {
  items: raw<boolean>`"mode" <> 'identities' and "trigger" <> 'reader'`,
  readers: raw<boolean>`"mode" <> 'identities' and "trigger" = 'reader'`,
  identities: raw<boolean>`"mode" = 'identities'`,
};
type Line = keyof typeof LINES;

/** A run of an earlier program has fewer counts. */
function toRecord(row: Selectable<Tables["syncs"]>): SyncRecord {
  const run = SYNCS.read(row);
  return { ...run, counts: { ...NO_COUNTS, ...run.counts } };
}
