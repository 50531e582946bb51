/**
 * A source's side of a run: it walks through what is there and reads requested items. It names things; the run compares
 * them with what is stored, keeps the counts and decides how it ended. Source: docs/decisions/0080.
 */
import { defined } from "#core/defined.ts";
import type { z } from "zod";
import type { Scope } from "#core/scope.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { SyncContext } from "./context.ts";
import type { SourceItem } from "./item.ts";
import type { Outcome } from "./outcomes.ts";

/**
 * How a source is synced. A cursor or checkpoint is validated when it comes back: one that its schema refuses is
 * dropped.
 */
export interface SessionSpec<Config = unknown, Cursor = unknown, Checkpoint = unknown> {
  /** Position in the feed of changes. It outlives runs and advances at the end of one. */
  cursor: z.ZodType<Cursor>;
  /** Position of a walk. Only another attempt of the same run receives it. */
  checkpoint: z.ZodType<Checkpoint>;
  /** Signs in, opens a folder, fetches a mirror: once for each run. */
  open(ctx: SyncContext<Config>, run: OpenRequest<Cursor, Checkpoint>): Promise<Session<Cursor, Checkpoint>>;
  /** Where it differs from the run's default. */
  batching?: Partial<Batching>;
}

/**
 * `full`: everything. `incremental`: what changed. `access`: only who may read what, for a source whose increments
 * don't show it; what it puts into the state isn't kept. `items`: single ones.
 */
export type SyncMode = "full" | "incremental" | "access" | "items";

export interface OpenRequest<Cursor = unknown, Checkpoint = unknown> {
  mode: SyncMode;
  scope: Scope;
  /** The same for every attempt of one run, and for runs that together list everything. */
  runId?: string;
  /** A person requested the run: groups that it reports between items are read even if they were read recently. */
  readsGroups?: true;
  /** The cursor of the last run that finished, in any mode. */
  feed?: Cursor;
  /** The last checkpoint of a later run that didn't finish, in any mode: for information, not to resume from. */
  left?: Checkpoint;
}

/** One run's session with the source: `walk` once, or `read` alone in mode `items`. Never both at the same time. */
export interface Session<Cursor, Checkpoint> {
  walk(run: WalkRequest<Cursor, Checkpoint>): AsyncGenerator<WalkEvent<Checkpoint>, WalkEnd<Cursor>>;
  /**
   * Reports the result for each of these and for what came with them, in any order; an id without a result counts as
   * failed. Called for mode `items`, and for the changed entries of a page that have no `build`: what it throws then is
   * thrown into the walk, at the page's `yield`.
   */
  read(externalIds: readonly string[]): AsyncGenerator<Outcome, void>;
  close?(): void | Promise<void>;
}

export interface WalkRequest<Cursor, Checkpoint> {
  mode: Exclude<SyncMode, "items">;
  scope: Scope;
  /** The cursor of the last run that finished, for an increment; absent = walk through everything. */
  since?: Cursor;
  /** The last checkpoint of an interrupted attempt of this run. */
  resume?: Checkpoint;
}

/** Something that exists at the source. */
export interface Entry {
  externalId: string;
  /** Equal to the stored version = the item is unchanged, except perhaps its access. Absent = it is read each time. */
  version?: string;
  /** Given where it can change while the version stays the same. Absent = `version` covers it. */
  access?: SourceAccess;
  /** Builds the item, if the entry has all of it; sends no request. Without it the item is read. */
  build?(): SourceItem;
}

export type PageEntry = Entry | Outcome;

/** Everything one response of the source named, and where the walk continues after it. */
export interface Page<Checkpoint> {
  t: "page";
  entries: readonly PageEntry[];
  checkpoint?: Checkpoint;
  /** The checkpoint is stored now, before what comes after the page: a later run has to know what this one began. */
  isDue?: true;
  /** The checkpoint after this many of the entries, which all have `build`: for pages whose contents take long. */
  within?(entries: number): Checkpoint;
  /**
   * The listing requests or folders it took; for a source whose runs may end at a bound. Source: docs/decisions/0070
   */
  listings?: number;
  /** The name of the current step, and the total if known, for people who wait. */
  note?: string;
  total?: number | undefined;
}

export type WalkEvent<Checkpoint> = Page<Checkpoint> | Outcome;

/** The end of a walk. */
export interface WalkEnd<Cursor> {
  /** Every living id in scope was named, except in what is `failed` or `refused`. */
  complete: boolean;
  /** Why it isn't complete, for the connector's owner, unless the run was an increment. */
  why?: string;
  cursor: Cursor;
  permissions: Permissions;
}

/**
 * `current` = the run would have shown every change of a permission, and of a group reported in syncs, up to its
 * beginning.
 */
export type Permissions = "current" | "not_checked";

/** How much is processed between two checkpoints. */
export interface Batching {
  upserts: number;
  seen: number;
  /** Folders, or listing requests. */
  listings: number;
  /** Milliseconds: a slow source yields to others as soon as a fast one. */
  everyMs: number;
}

/** The entry of an item that is known in full. */
export function entryOf(item: SourceItem): Entry {
  const { externalId, version } = item;
  return { externalId, ...defined({ version }), build: () => item };
}

/**
 * The same, where its readers can change while the version stays the same. A part has no readers of its own to compare.
 */
export function judgedEntryOf(item: SourceItem): Entry {
  const { access, partOf } = item;
  return { ...entryOf(item), ...(access && partOf === undefined && { access }) };
}
