import type { z } from "zod";
import type { SourceProblem } from "#api/common.ts";
import { type PeopleFirstState, SyncMode, SyncState, SyncTrigger } from "#api/connector-records.ts";
import { table, words } from "./table.ts";

const { text, integer, instant, flag, json, oneOf, nullable, hidden } = words;

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

/** The reading of users and groups that goes before a run which a person asks for. */
export interface PeopleFirst {
  syncId: string;
  /** `partial`: some groups could not be read, and stay as they were. */
  state: z.infer<typeof PeopleFirstState>;
  /** Why not all was read. */
  problem: SourceProblem | null;
}

/** Runs of connectors, in the words of the contract. */
export const SYNCS = table("syncs", ["workspaceId", "syncId"], {
  syncId: text,
  connectorId: text,
  mode: oneOf(SyncMode.options),
  trigger: oneOf(SyncTrigger.options),
  state: oneOf(SyncState.options),
  /**
   * Attempts that ended at the same place, the one under way included: 1 while all is well. It is 1 again when one stores
   * something that those before it had not.
   */
  attempt: integer,
  /** Of the whole run, whatever the number of its attempts. */
  counts: json<SyncCounts>(),
  progress: json<SyncProgress>(),
  /** External ids, for mode `items`. */
  items: nullable(json<string[]>()),
  /** Null where nobody waits for them. */
  people: nullable(json<PeopleFirst>()),
  resumeAt: nullable(instant),
  cancelRequestedAt: nullable(instant),
  problem: nullable(json<SourceProblem>()),
  scopeVersion: integer,
  createdAt: instant,
  startedAt: nullable(instant),
  finishedAt: nullable(instant),
});

/** A sample of what runs left out. */
export const SYNC_SKIPS = table("sync_skips", ["workspaceId", "syncId", "externalId"], {
  syncId: hidden(text),
  externalId: text,
  reason: text,
  message: text,
  retryable: flag,
});
