import type { z } from "zod";
import type { SourceProblem } from "#api/common.ts";
import { type PeopleFirstState, SyncMode, SyncState, SyncTrigger } from "#api/connector-records.ts";
import { CONNECTORS } from "./connectors.ts";
import { WORKSPACES } from "./people.ts";
import { table, words } from "./table.ts";

const { text, integer, instant, flag, json, oneOf, nullable, hidden } = words;

/**
 * The work that a run did. Each item is counted once, however often and in however many attempts it was listed. Bytes
 * are counted each time they are read. Counts that leave no trace in the records (left-out items, users) are added with
 * the cursor that covers them, or at the end of the run; if an attempt dies earlier, they aren't counted.
 */
export interface SyncCounts {
  seen: number;
  upserted: number;
  unchanged: number;
  deleted: number;
  skipped: number;
  /** The number of skipped items, by reason. */
  reasons?: Readonly<Record<string, number>>;
  failed: number;
  bytes: number;
  /** Children that are hidden from everyone because of their parents, at the end of the run. */
  parentMissing: number;
  /** Requests that a run of groups and users sent to the provider. */
  requests?: number;
  /** Number of failures that look like a bug in kb itself. */
  faults?: number;
  /** The number of impossible dates on the items that were read. */
  datesLeftOut?: number;
}

export interface SyncProgress {
  done: number;
  total: number | null;
  note: string | null;
}

/** The reading of users and groups that precedes a run which a person requested. */
export interface PeopleFirst {
  syncId: string;
  /** `partial`: some groups could not be read, and stay as they were. */
  state: z.infer<typeof PeopleFirstState>;
  /** Why the reading is incomplete. */
  problem: SourceProblem | null;
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

/** A run that an earlier program stored has fewer counts. */
const counts = {
  ...json<SyncCounts>(),
  read: (stored: string) => ({ ...NO_COUNTS, ...json<SyncCounts>().read(stored) }),
};

/** Runs of connectors, with the names of the contract. */
export const SYNCS = table(
  "syncs",
  ["workspaceId", "syncId"],
  {
    syncId: text,
    connectorId: text,
    mode: oneOf(SyncMode.options),
    trigger: oneOf(SyncTrigger.options),
    state: oneOf(SyncState.options),
    /**
     * The number of attempts that ended at the same place, including the current one: 1 in normal operation. Reset to 1
     * when an attempt stores something new.
     */
    attempt: integer,
    /** Totals of the whole run, across its attempts. */
    counts,
    progress: json<SyncProgress>(),
    /** External ids of the items to read, for mode `items`. */
    items: nullable(json<string[]>()),
    resumeAt: nullable(instant),
    cancelRequestedAt: nullable(instant),
    problem: nullable(json<SourceProblem>()),
    scopeVersion: integer,
    createdAt: instant,
    startedAt: nullable(instant),
    finishedAt: nullable(instant),
    /** Null if the run doesn't wait for users and groups. */
    people: nullable(json<PeopleFirst>()),
  },
  {
    deletedWith: [WORKSPACES, CONNECTORS],
    indexes: { syncs_by_connector: ["workspaceId", "connectorId", "createdAt"] },
  },
);

/** A sample of the items that runs left out. */
export const SYNC_SKIPS = table(
  "sync_skips",
  ["workspaceId", "syncId", "externalId"],
  {
    syncId: hidden(text),
    externalId: text,
    reason: text,
    message: text,
    retryable: flag,
  },
  { deletedWith: [WORKSPACES, SYNCS] },
);
