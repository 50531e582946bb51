import type { EntityType, TextReason } from "#api/common.ts";
import type { ItemFacts } from "#core/item-facts.ts";
import type { Principal, SourceAccess } from "#core/principals.ts";
import type { Section } from "#core/sections.ts";
import type { NewAuditRecord } from "./audit-chain.ts";
import type { PushResultName, PushFailure } from "./tables/items.ts";
import type { SyncCounts, SyncProgress } from "./tables/syncs.ts";
import type { AnalyzedText } from "#text/analyzer.ts";
import type { PeopleBatch, PeopleResult } from "./people-batch.ts";

/** An entity as one item shows it. `entityId` is derived from (workspace, type, identity), so it is the same each time. */
export interface ItemEntity {
  entityId: string;
  type: EntityType;
  identity: string;
  role: "author" | "assignee" | "participant" | "container" | "label";
  name: string;
  nameKey: string;
  email: string | null;
  login: string | null;
  claimed: boolean;
  /** A container that the item is in. */
  isHome?: true;
}

/** The result of reading an item's content. */
export type ItemText =
  | {
      state: "text";
      text: string;
      textHash: string;
      sections: Section[];
      /** The file's line where the text begins, when its lines are the file's. */
      firstLine?: number;
      /** Reading was cut by the time limit; the item is read again. */
      isOutOfTime?: true;
      analyzed: AnalyzedText;
    }
  /** No text, and no other try will find one until the item changes. */
  | { state: "none"; reason: TextReason; message: string; analyzed: AnalyzedText }
  /**
   * This try failed: a former version stays; `retryAt` null = only a change can help. `isFault`: probably a bug in kb.
   * `isUnread`: the content has no end, or is now too large, in any version.
   */
  | {
      state: "failed";
      message: string;
      retryAt: number | null;
      isFault?: true;
      isUnread?: true;
      analyzed: AnalyzedText;
    };

/** An item ready to be stored. Times are epoch milliseconds. */
export interface PreparedItem extends ItemFacts {
  /** Its kbId if it is new; a known (connector, externalId) keeps its own. */
  newKbId: string;
  externalId: string;
  parentExternalId: string | null;
  /** The externalId of the item that it replies to. */
  replyTo?: string | null;
  /** The source's reference to its content. */
  contentRef?: string | null;
  identityHint: string | null;
  /** Its id until now, when its source reports one; see `SourceItem.formerId`. */
  formerExternalId?: string;
  providerId: string;
  source: string;
  url: string | null;
  lineAnchor: string | null;
  version: string | null;
  entities: readonly ItemEntity[];
  /** Already checked by the authority rule. Null = its parent's; without a parent, open to no one. */
  access: SourceAccess | null;
  text: ItemText;
  /** The reader of its content; absent = it wasn't read. */
  reader?: { name: string; version: number };
  /** Number of secrets that were masked. Source: S37. */
  maskedSecrets: number;
  /** Number of its dates that were left out because none of these years has them. Source: S68. */
  datesLeftOut?: number;
  /** Hash of its index data, except its access. */
  indexHash: string;
}

/** The fields that identify the state of an item in which it was read. */
export interface ItemState {
  version: string | null;
  parentExternalId: string | null;
}

/**
 * Why the permissions of an item weren't checked with the rest of its connector: the source refused it, the run
 * couldn't check it, it couldn't be read, or its removal waits for approval.
 */
export type ClockCause = "refused" | "not_looked_at" | "failed" | "held";

/** Who may read an item, as it was listed. */
export type ListedAccess = Pick<PreparedItem, "access" | "parentExternalId">;

/**
 * One change to the stored items. The ops of a batch are applied in order. `clockAt` is when the named permissions were
 * checked, unless their connector's clock applies.
 */
export type ItemOp =
  /**
   * With `isChildless`, its content has no child items: stored ones are removed, as with `children` and an empty
   * `keep`. `version` is that of the content when the item's own follows later, with `children`.
   */
  | { type: "upsert"; item: PreparedItem; clockAt?: number | null; isChildless?: true; version?: string | null }
  /**
   * A new access of its own, null as in `PreparedItem`; its children follow. With `of`, it is the access of that
   * version below that parent: if the item has changed since, nothing of the batch is stored. With `isSeen`, it also
   * counts as alive, as with `seen`.
   */
  | {
      type: "access";
      externalId: string;
      access: SourceAccess | null;
      of?: ItemState;
      clockAt?: number | null;
      isSeen?: true;
    }
  /** Removes the item and its child items, with `subtree` also everything below `<externalId>/`; subject to the guard. */
  | { type: "delete"; externalId: string; subtree: boolean }
  /**
   * Marks items as alive and unchanged; with `isCounted`, counts them unless the run already named them. Ends the hold
   * on them and their child items.
   */
  | { type: "seen"; externalIds: readonly string[]; isCounted?: true }
  /**
   * Keeps these child items made from an item's own content and removes the others with everything in them, bypassing
   * the guard: the content has changed. Sets the item's `version`, because only now it is fully read.
   */
  | { type: "children"; externalId: string; keep: readonly string[]; version: string | null }
  /**
   * Restores a removed item. No one may read it until its source reports who may: the access from before its removal no
   * longer counts. It waits to be listed again.
   */
  | { type: "restore"; kbId: string }
  /** A skipped item. `failed`: its stored content stays; with `isUnread`, as its former content. */
  | { type: "skip"; externalId: string; reason: TextReason; message: string; retryable: boolean; isUnread?: true }
  /** Removes the former text and its child items from those of these items that couldn't be read since then. */
  | { type: "end_former"; kbIds: readonly string[]; since: number }
  /**
   * Removes these unless the run or set has since named them or the source item that they are inside; all or none,
   * under the guard.
   */
  | { type: "sweep"; kbIds: readonly string[]; hold: boolean }
  /** Removes these and their child items; all or none, under the guard. */
  | { type: "drop"; kbIds: readonly string[]; hold: boolean }
  /**
   * The content didn't match its listing, so the item must be listed again. Until then its stored content stays, for
   * the people in both its access and the listing.
   */
  | { type: "relist"; externalId: string; listed?: ListedAccess; clockAt?: number | null }
  /**
   * Removes these and their child items, bypassing the guard: a person left them out. With `ifElsewhere`, only items
   * read at another place and not since.
   */
  | { type: "remove"; kbIds: readonly string[]; ifElsewhere?: true }
  /** Ends the hold on these: they are kept. */
  | { type: "release"; kbIds: readonly string[] }
  /**
   * Sets when the permissions of these were checked: with their connector's (null), or then. With a cause they weren't
   * checked: an item with its own clock keeps it, and a refused one is hidden.
   */
  | { type: "clock"; externalIds: readonly string[]; at: number | null; cause: ClockCause | null };

/** A run's own data, stored together with a batch. */
export interface BatchRun {
  syncId: string;
  /** The mark for items that it names: the id of the first in a chain of runs that list everything together. */
  passId?: string;
  /** The claimed job: a batch from a worker that lost its lease is rejected. */
  jobId: string;
  leaseOwner: string;
  scopeVersion: number;
  /** Counted by the run itself, in addition to the batch's counts: events that leave no trace in the records. */
  addCounts?: Partial<SyncCounts>;
  progress?: SyncProgress;
  /** JSON of the cursor that covers everything up to the end of this batch. */
  cursor?: string;
  /** JSON of the source's own state for this cursor, by key; null deletes. */
  state?: Readonly<Record<string, string | null>>;
  /** The connector's clock from now on. */
  aclCheckedAt?: number;
}

/** A push's upload data, stored together with a batch. */
export interface BatchUpload {
  uploadId: string;
  /** `open`: it accepts lines. `ending`: items that a set didn't name are removed. In any other state nothing is stored. */
  phase: "open" | "ending";
  /** The last line of the batch; null without one. */
  lines: number | null;
  /** For each line, its op, or its result if it has none. */
  results: readonly ({ op: number } | { result: PushResultName })[];
  failures: readonly PushFailure[];
  /** Refused lines whose item is unknown. */
  unnamed: number;
}

export interface ItemBatch {
  connectorId: string;
  /** Principals that every access of this connector is ANDed with: its own group, its connection's. */
  always: readonly Principal[];
  /** Absent for a push. */
  run?: BatchRun;
  /** The upload that a push belongs to. Without it and without a run, named items count for the open set. */
  upload?: BatchUpload;
  /** Nothing is stored unless this living item has this version or, if undefined, doesn't exist. Absent for a run. */
  expects?: { externalId: string; version: string | null | undefined };
  /**
   * Appended to the audit in the batch's transaction if it changes who may read already stored items; its details say
   * how many, which, and who was named before and is now. Absent for a run.
   */
  trace?: NewAuditRecord;
  /** Set where permissions are mirrored, and so expire: the connector's clock. */
  mirror?: { aclCheckedAt: number | null };
  /** Highest number of living items in 24 hours, from `guardOf`, for the guard over removals. */
  highest: number;
  now: number;
  ops: readonly ItemOp[];
  /** Groups and users that the run reported with them; stored in the same transaction. */
  people?: PeopleBatch;
}

/** The result of one op. `held`: its removal, or part of it, waits for approval. */
export type OpOutcome = "upserted" | "unchanged" | "removed" | "held" | "absent" | "skipped" | "failed" | "done";

/**
 * Why no one may read an item because of its parents: one isn't stored or was removed, one is open to no one, there is
 * a cycle, or there are more than 16.
 */
export type ParentFailure = "missing" | "nobody" | "circle" | "too_deep";

/** An item that no one may read because of its parents, by the op that named it. */
export interface HiddenChild {
  op: number;
  parentId: string;
  failure: ParentFailure;
}

export type BatchResult =
  | {
      isApplied: true;
      outcomes: OpOutcome[];
      /** In their state at the end of the batch. */
      hiddenChildren: HiddenChild[];
      isCancelRequested: boolean;
      /** The result for the batch's groups and users. */
      people?: Extract<PeopleResult, { isApplied: true }>;
      tookMs: number;
    }
  /** Nothing was stored. */
  | { isApplied: false; reason: "lease_lost" | "scope_changed" | "connector_inactive" };

/** Removals allowed without approval: this many, or `GUARD_SHARE` of the highest size, in 24 hours. */
export const GUARD_ITEMS = 20;
export const GUARD_SHARE = 0.2;
export const GUARD_WINDOW_MS = 24 * 3_600_000;

/** Returns how many removals in 24 hours are allowed without approval. Source: S41. */
export function removalLimit(highest: number): number {
  return Math.max(GUARD_ITEMS, Math.floor(highest * GUARD_SHARE));
}

/** How long an item keeps its text after its content can no longer be read. Source: docs/decisions/0054. */
export const FORMER_TEXT_MS = 7 * 86_400_000;

/**
 * Whether a text that has been the former one since then may still stay. An impossible time, which an older kb may have
 * stored, counts as over.
 */
export function isFormer(formerSince: number, now: number): boolean {
  return Math.abs(now - formerSince) < FORMER_TEXT_MS;
}

/** For children from before they could have an access of their own: no one may read them until the source reports them again. */
export const UNTOLD_ACCESS = -1;

/** The result of deleting some of the accesses that no item has any more. */
export interface SweptAccesses {
  isDone: boolean;
  /** Deleted by this call. */
  accesses: number;
  lists: number;
}

/** Maps the outcome of an op to the result name of its line. */
export function pushResultOf(outcome: OpOutcome): PushResultName {
  return outcome === "skipped" || outcome === "done" ? "unchanged" : outcome;
}
