/**
 * A source's part of a run: it lists the existing things and reads requested items. The run compares the listed things
 * with the stored ones, keeps the counts and decides how it ended. Source: docs/decisions/0080.
 */
import { defined } from "#core/defined.ts";
import type { z } from "zod";
import type { Scope } from "#core/scope.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { SyncContext } from "./context.ts";
import type { SourceItem } from "./item.ts";
import type { Outcome } from "./outcomes.ts";

/**
 * How a source is synced. A stored cursor or checkpoint is validated when it is loaded, and discarded if its schema
 * rejects it.
 */
export interface SessionSpec<Config = unknown, Cursor = unknown, Checkpoint = unknown> {
  /** Position in the change feed. It is kept after a run, and advances at the end of each run. */
  cursor: z.ZodType<Cursor>;
  /** Position of a walk. Only another attempt of the same run gets it. */
  checkpoint: z.ZodType<Checkpoint>;
  /** Opens a session, once for each run: signs in, opens a folder or fetches a mirror. */
  open(ctx: SyncContext<Config>, run: OpenRequest<Cursor, Checkpoint>): Promise<Session<Cursor, Checkpoint>>;
  /** Batch sizes that differ from the run's defaults. */
  batching?: Partial<Batching>;
}

/**
 * `full` reads everything. `incremental` reads the changes. `access` reads only who may read what, for a source whose
 * increments don't show that; changes that such a run makes to the state are discarded. `items` reads single items.
 */
export type SyncMode = "full" | "incremental" | "access" | "items";

export interface OpenRequest<Cursor = unknown, Checkpoint = unknown> {
  mode: SyncMode;
  scope: Scope;
  /**
   * The id of the run. It is the same for every attempt of one run, and for several runs that together list everything.
   */
  runId?: string;
  /**
   * A person requested the run: groups that it reports between items are read again even if they were read recently.
   */
  readsGroups?: true;
  /** The cursor of the last finished run of any mode. */
  feed?: Cursor;
  /**
   * The last checkpoint of a later run that didn't finish, in any mode. It is only for information: the run must not
   * resume from it.
   */
  left?: Checkpoint;
}

/**
 * A run's session with the source. It calls either `walk` once, or in mode `items` only `read`. Both never run at the
 * same time.
 */
export interface Session<Cursor, Checkpoint> {
  walk(run: WalkRequest<Cursor, Checkpoint>): AsyncGenerator<WalkEvent<Checkpoint>, WalkEnd<Cursor>>;
  /**
   * Reports a result for each of these ids and for the things that were read with them, in any order. An id without a
   * result counts as failed. Called in mode `items`, and for the changed entries of a page that have no `build`. In the
   * second case, an error that `read` throws is thrown into the walk, at the page's `yield`.
   */
  read(externalIds: readonly string[]): AsyncGenerator<Outcome, void>;
  close?(): void | Promise<void>;
}

export interface WalkRequest<Cursor, Checkpoint> {
  mode: Exclude<SyncMode, "items">;
  scope: Scope;
  /** The cursor of the last finished run, for an increment. Absent = list everything. */
  since?: Cursor;
  /** The last checkpoint of an interrupted attempt of this run. */
  resume?: Checkpoint;
}

/** A thing that exists at the source. */
export interface Entry {
  externalId: string;
  /**
   * The thing's version. If it equals the stored version, the item is unchanged, except perhaps its access. Absent =
   * the item is read in each run.
   */
  version?: string;
  /**
   * The item's access, if it can change while the version stays the same. Absent = `version` also covers the access.
   */
  access?: SourceAccess;
  /** Builds the item without a request, if the entry contains the whole item. Absent = the item is read separately. */
  build?(): SourceItem;
}

export type PageEntry = Entry | Outcome;

/** All entries of one response of the source, and the position at which the walk continues. */
export interface Page<Checkpoint> {
  t: "page";
  entries: readonly PageEntry[];
  checkpoint?: Checkpoint;
  /**
   * True = the checkpoint is stored at once, before the events that follow the page, because a later run has to know
   * what this run began.
   */
  isDue?: true;
  /**
   * Returns the checkpoint after this many of the entries, all of which have `build`. For pages whose contents take
   * long to read.
   */
  within?(entries: number): Checkpoint;
  /**
   * The number of listing requests or folders that the page took, for a source whose runs may end at a limit. Source:
   * docs/decisions/0070
   */
  listings?: number;
  /** The name of the current step, and the total if it is known, to show to people who wait. */
  note?: string;
  total?: number | undefined;
}

export type WalkEvent<Checkpoint> = Page<Checkpoint> | Outcome;

/** The end of a walk. */
export interface WalkEnd<Cursor> {
  /** True = the walk named every existing id in scope, except those within something `failed` or `refused`. */
  complete: boolean;
  /** Why the walk isn't complete, as a message for the connector's owner. Absent for an increment. */
  why?: string;
  cursor: Cursor;
  permissions: Permissions;
}

/**
 * `current` = the run would have reported every permission change, and every change of a group that syncs report, up to
 * the beginning of the run.
 */
export type Permissions = "current" | "not_checked";

/** How much a run processes between two checkpoints. */
export interface Batching {
  upserts: number;
  seen: number;
  /** The number of folders, or of listing requests. */
  listings: number;
  /** Milliseconds. A slow source yields to other sources as soon as a fast one does. */
  everyMs: number;
}

/** Makes the entry of an item that is already complete. */
export function entryOf(item: SourceItem): Entry {
  const { externalId, version } = item;
  return { externalId, ...defined({ version }), build: () => item };
}

/**
 * Makes the entry of a complete item whose readers can change while its version stays the same. An item that is part of
 * another has no separate readers to compare.
 */
export function judgedEntryOf(item: SourceItem): Entry {
  const { access, partOf } = item;
  return { ...entryOf(item), ...(access && partOf === undefined && { access }) };
}
