import type { z } from "zod";
import type { SourceProblem } from "#api/common.ts";
import {
  type SyncMode as SyncModeSchema,
  SyncState as SyncStateSchema,
  type SyncTrigger as SyncTriggerSchema,
} from "#api/connector-records.ts";
import type { SyncCounts, SyncProgress } from "./item-writes.ts";

/** The words of the contract: a run has the same mode, trigger and state over REST as in the records. */
export const SYNC_STATES = SyncStateSchema.options;
export type SyncMode = z.infer<typeof SyncModeSchema>;
export type SyncTrigger = z.infer<typeof SyncTriggerSchema>;
export type SyncState = z.infer<typeof SyncStateSchema>;

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

export interface SyncStore {
  create(sync: SyncRecord): Promise<void>;
  find(syncId: string): Promise<SyncRecord | undefined>;
  update(syncId: string, patch: SyncPatch): Promise<void>;
  /** Runs of a connector, the newest first, at most `limit`, after this one. */
  list(connectorId: string, limit: number, after?: { createdAt: number; syncId: string }): Promise<SyncRecord[]>;
  /** Runs of these connectors that are not over, the oldest first. */
  listOpen(connectorIds: readonly string[]): Promise<SyncRecord[]>;
  /** The newest finished run of each of these connectors. */
  listLast(connectorIds: readonly string[]): Promise<SyncRecord[]>;
  /** A sample of what a run left out. */
  listSkips(syncId: string): Promise<SyncSkip[]>;
  /** Deletes finished runs beyond the newest `keep` of a connector. */
  trim(connectorId: string, keep: number): Promise<void>;
}

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
