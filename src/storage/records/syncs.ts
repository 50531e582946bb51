import { sql as raw, type Selectable, type Updateable } from "kysely";
import type { z } from "zod";
import type { SourceProblem } from "#api/common.ts";
import {
  type PeopleFirstState,
  type SyncMode as SyncModeSchema,
  SyncState as SyncStateSchema,
  type SyncTrigger as SyncTriggerSchema,
} from "#api/connector-records.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { SyncsTable } from "#storage/schema.ts";

/**
 * What a run has done. Items are counted once, however often they were named and in how many attempts; bytes as often as
 * they were read. What leaves no trace in the records (left-out items, users) is added with the cursor that covers it, or at
 * the end of the run: an attempt that dies before has not counted it.
 */
export interface SyncCounts {
  seen: number;
  upserted: number;
  unchanged: number;
  deleted: number;
  skipped: number;
  /** Of what was skipped, how many by its reason. */
  reasons?: Readonly<Record<string, number>>;
  failed: number;
  bytes: number;
  /** Children that nobody may read for their parents' sake, as they stood when the run ended. */
  parentMissing: number;
  /** Requests to the provider, of a run of groups and users. */
  requests?: number;
  /** Of the failures, those that look like a mistake of kb itself. */
  faults?: number;
  /** Dates that no item can have, of the items that were read. */
  datesLeftOut?: number;
}

export interface SyncProgress {
  done: number;
  total: number | null;
  note: string | null;
}

/** The words of the contract: a run has the same mode, trigger and state over REST as in the records. */
export const SYNC_STATES = SyncStateSchema.options;
export type SyncMode = z.infer<typeof SyncModeSchema>;
export type SyncTrigger = z.infer<typeof SyncTriggerSchema>;
export type SyncState = z.infer<typeof SyncStateSchema>;

/** The reading of users and groups that goes before a run which a person asks for. */
export interface PeopleFirst {
  syncId: string;
  /** `partial`: some groups could not be read, and stay as they were. */
  state: z.infer<typeof PeopleFirstState>;
  /** Why not all was read. */
  problem: SourceProblem | null;
}

/** One run of a connector. Times are epoch milliseconds. */
export interface SyncRecord {
  syncId: string;
  connectorId: string;
  mode: SyncMode;
  trigger: SyncTrigger;
  state: SyncState;
  /**
   * Attempts that ended at the same place, the one under way included: 1 while all is well. It is 1 again when one stores
   * something that those before it had not.
   */
  attempt: number;
  /** Of the whole run, whatever the number of its attempts. */
  counts: SyncCounts;
  progress: SyncProgress;
  /** External ids, for mode `items`. */
  items: string[] | null;
  /** Null where nobody waits for them. */
  people: PeopleFirst | null;
  resumeAt: number | null;
  cancelRequestedAt: number | null;
  problem: SourceProblem | null;
  scopeVersion: number;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
}

export interface SyncSkip {
  externalId: string;
  reason: string;
  message: string;
  retryable: boolean;
}

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
  const syncs = () => sql.read.selectFrom("syncs").selectAll().where("workspaceId", "=", workspaceId);

  async function trim(connectorId: string, keep: number, line: Line): Promise<void> {
    const oldest = await syncs()
      .where("connectorId", "=", connectorId)
      .where("finishedAt", "is not", null)
      .where(LINES[line])
      .orderBy("createdAt", "desc")
      .offset(keep)
      .limit(1)
      .executeTakeFirst();
    if (!oldest) return;
    await sql.write
      .deleteFrom("syncs")
      .where("workspaceId", "=", workspaceId)
      .where("connectorId", "=", connectorId)
      .where("finishedAt", "is not", null)
      .where(LINES[line])
      .where("createdAt", "<=", oldest.createdAt)
      .execute();
  }

  return {
    async create({ syncId, connectorId, createdAt, ...rest }: SyncRecord): Promise<void> {
      // A whole record gives every column.
      const row = toRow(rest) as Omit<SyncsTable, "workspaceId" | "syncId" | "connectorId" | "createdAt">;
      await sql.write
        .insertInto("syncs")
        .values({ ...row, workspaceId, syncId, connectorId, createdAt })
        .execute();
    },
    async find(syncId: string): Promise<SyncRecord | undefined> {
      const row = await syncs().where("syncId", "=", syncId).executeTakeFirst();
      return row && toRecord(row);
    },
    async update(syncId: string, patch: SyncPatch): Promise<void> {
      const row = toRow(patch);
      if (Object.keys(row).length === 0) return;
      await sql.write
        .updateTable("syncs")
        .set(row)
        .where("workspaceId", "=", workspaceId)
        .where("syncId", "=", syncId)
        .execute();
    },

    /** Runs of a connector, the newest first, at most `limit`, after this one. */
    async list(
      connectorId: string,
      limit: number,
      after?: { createdAt: number; syncId: string },
    ): Promise<SyncRecord[]> {
      let query = syncs().where("connectorId", "=", connectorId);
      if (after) query = query.where(raw<boolean>`("createdAt", "syncId") < (${after.createdAt}, ${after.syncId})`);
      const rows = await query.orderBy("createdAt", "desc").orderBy("syncId", "desc").limit(limit).execute();
      return rows.map(toRecord);
    },

    /** Runs of these connectors that are not over, the oldest first; those of identities apart. */
    async listOpen(connectorIds: readonly string[]): Promise<SyncRecord[]> {
      if (connectorIds.length === 0) return [];
      const rows = await syncs()
        .where("connectorId", "in", [...connectorIds])
        .where("state", "in", [...OPEN_SYNC_STATES])
        .where("mode", "<>", "identities")
        .orderBy("createdAt")
        .orderBy("syncId")
        .execute();
      return rows.map(toRecord);
    },

    /** Runs of identities of a connector that are not over, the oldest first. */
    async listOpenIdentities(connectorId: string): Promise<SyncRecord[]> {
      const rows = await syncs()
        .where("connectorId", "=", connectorId)
        .where("state", "in", [...OPEN_SYNC_STATES])
        .where("mode", "=", "identities")
        .orderBy("createdAt")
        .orderBy("syncId")
        .execute();
      return rows.map(toRecord);
    },

    /** The newest run of identities of a connector that is over. */
    async findLastIdentities(connectorId: string): Promise<SyncRecord | undefined> {
      const row = await syncs()
        .where("connectorId", "=", connectorId)
        .where("finishedAt", "is not", null)
        .where("mode", "=", "identities")
        .orderBy("createdAt", "desc")
        .limit(1)
        .executeTakeFirst();
      return row && toRecord(row);
    },

    /** The newest finished run of each of these connectors, those of identities and those that only read again apart. */
    async listLast(connectorIds: readonly string[]): Promise<SyncRecord[]> {
      const last: SyncRecord[] = [];
      for (const connectorId of connectorIds) {
        const row = await syncs()
          .where("connectorId", "=", connectorId)
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
      const rows = await sql.read
        .selectFrom("sync_skips")
        .select(["externalId", "reason", "message", "retryable"])
        .where("workspaceId", "=", workspaceId)
        .where("syncId", "=", syncId)
        .orderBy("externalId")
        .execute();
      return rows.map((row) => ({ ...row, retryable: row.retryable === 1 }));
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

/** Runs of each kind stand in a line of their own, so that many of one kind push none of another out. */
const LINES = {
  items: raw<boolean>`"mode" <> 'identities' and "trigger" <> 'reader'`,
  readers: raw<boolean>`"mode" <> 'identities' and "trigger" = 'reader'`,
  identities: raw<boolean>`"mode" = 'identities'`,
};
type Line = keyof typeof LINES;

function toRow(patch: SyncPatch): Updateable<SyncsTable> {
  const { counts, progress, items, people, problem, ...plain } = patch;
  return {
    ...plain,
    ...(counts && { counts: JSON.stringify(counts) }),
    ...(progress && { progress: JSON.stringify(progress) }),
    ...(items !== undefined && { items: items === null ? null : JSON.stringify(items) }),
    ...(people !== undefined && { people: people === null ? null : JSON.stringify(people) }),
    ...(problem !== undefined && { problem: problem === null ? null : JSON.stringify(problem) }),
  };
}

/** JSON and closed sets are written by `toRow` and the writer's `saveRun` only, from the types named here. */
function toRecord(row: Selectable<SyncsTable>): SyncRecord {
  const { workspaceId: _workspaceId, ...plain } = row;
  return {
    ...plain,
    mode: row.mode as SyncMode,
    trigger: row.trigger as SyncTrigger,
    state: row.state as SyncState,
    counts: { ...NO_COUNTS, ...(JSON.parse(row.counts) as Partial<SyncCounts>) },
    progress: JSON.parse(row.progress) as SyncProgress,
    items: row.items === null ? null : (JSON.parse(row.items) as string[]),
    people: row.people === null ? null : (JSON.parse(row.people) as PeopleFirst),
    problem: row.problem === null ? null : (JSON.parse(row.problem) as SourceProblem),
  };
}
