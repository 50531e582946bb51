/**
 * What a source is asked in a run: to walk through what is there and to read what is asked for. It names things; the run
 * compares them with what is stored, keeps the books and says how it ended. Source: docs/decisions/0080.
 */
import type { z } from "zod";
import type { Scope } from "#core/scope.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { SyncContext } from "./context.ts";
import type { SourceItem } from "./item.ts";
import type { Outcome } from "./outcomes.ts";

/** How a source is synced. Neither cursor nor checkpoint is trusted when it comes back: one that its schema refuses is dropped. */
export interface SessionSpec<Config = unknown, Cursor = unknown, Checkpoint = unknown> {
  /** Where the feed of changes stands. It outlives runs and moves at the end of one. */
  cursor: z.ZodType<Cursor>;
  /** Where a walk stands. It goes back to another attempt of the same run, and to nobody else. */
  checkpoint: z.ZodType<Checkpoint>;
  /** Signs in, opens a folder, fetches a mirror: once for each run. */
  open(ctx: SyncContext<Config>, run: OpenRequest<Cursor, Checkpoint>): Promise<Session<Cursor, Checkpoint>>;
  /** Where it is another measure than the run's own. */
  batching?: Partial<Batching>;
}

/**
 * `full`: everything. `incremental`: what changed. `access`: only who may read what, for a source whose increments do not
 * tell; what it puts into the state is not kept. `items`: single ones.
 */
export type SyncMode = "full" | "incremental" | "access" | "items";

export interface OpenRequest<Cursor = unknown, Checkpoint = unknown> {
  mode: SyncMode;
  scope: Scope;
  /** The same for every attempt of one run, and for the runs that list everything together. */
  runId?: string;
  /** A person asked for it: groups that it tells between items are read, however young the last reading of each is. */
  readsGroups?: true;
  /** The cursor of the last run that came to its end, whatever the mode is. */
  feed?: Cursor;
  /** The last checkpoint of a run after it that did not come to its end, whichever it was: to know of, not to go on from. */
  left?: Checkpoint;
}

/** One run's dealings with the source: `walk` once, or `read` alone in mode `items`. Never both at the same moment. */
export interface Session<Cursor, Checkpoint> {
  walk(run: WalkRequest<Cursor, Checkpoint>): AsyncGenerator<WalkEvent<Checkpoint>, WalkEnd<Cursor>>;
  /**
   * What became of each of these, and of what came with it, in any order; what is not answered counts as failed. Called for
   * mode `items`, and for the changed entries of a page that have no `build`: what it throws then is thrown into the walk,
   * where the page was given.
   */
  read(externalIds: readonly string[]): AsyncGenerator<Outcome, void>;
  close?(): void | Promise<void>;
}

export interface WalkRequest<Cursor, Checkpoint> {
  mode: Exclude<SyncMode, "items">;
  scope: Scope;
  /** The cursor of the last run that came to its end, for an increment; absent = walk through everything. */
  since?: Cursor;
  /** The last checkpoint of an attempt of this run that was interrupted. */
  resume?: Checkpoint;
}

/** Something that is there. */
export interface Entry {
  externalId: string;
  /** Equal to the stored one = the item is as it was, but for its access. Absent = it is read each time. */
  version?: string;
  /** Where it can be another one under the same version. Absent = `version` covers it. */
  access?: SourceAccess;
  /** The item, of an entry that has all of it; asks for nothing. Without it the item is read. */
  build?(): SourceItem;
}

export type PageEntry = Entry | Outcome;

/** What an answer of the source named, all of it, and where the walk goes on after it. */
export interface Page<Checkpoint> {
  t: "page";
  entries: readonly PageEntry[];
  checkpoint?: Checkpoint;
  /** The checkpoint is stored now, before what comes after the page: a later run has to know what this one began. */
  isDue?: true;
  /** Where it goes on after so many of the entries, which all have `build`: for pages whose contents take long. */
  within?(entries: number): Checkpoint;
  /** Requests that list, or folders, that it took; for a source whose runs may end at a bound. Source: docs/decisions/0070 */
  looks?: number;
  /** What is being read, and how much there is in all where that is known, for people who wait. */
  note?: string;
  total?: number | undefined;
}

export type WalkEvent<Checkpoint> = Page<Checkpoint> | Outcome;

/** How a walk ended. */
export interface WalkEnd<Cursor> {
  /** Every living id in scope was named, except in what is `failed` or `refused`. */
  complete: boolean;
  /** Why it isn't, for the connector's owner, where that is no increment. */
  why?: string;
  cursor: Cursor;
  permissions: Permissions;
}

/** `current` = the run would have shown every change of a permission, and of a group told in syncs, up to its beginning. */
export type Permissions = "current" | "not_checked";

/** How much is handed over between two places to go on from. */
export interface Batching {
  upserts: number;
  seen: number;
  /** Folders, or requests that list. */
  looks: number;
  /** Milliseconds: a slow source is left for others as soon as a fast one. */
  everyMs: number;
}

/** The entry of an item that is known in full. */
export function entryOf(item: SourceItem): Entry {
  const { externalId, version } = item;
  return { externalId, ...(version !== undefined && { version }), build: () => item };
}

/** The same, where who reads it can change under one version. A part has no readers of its own to compare. */
export function judgedEntryOf(item: SourceItem): Entry {
  const { access, partOf } = item;
  return { ...entryOf(item), ...(access && partOf === undefined && { access }) };
}
