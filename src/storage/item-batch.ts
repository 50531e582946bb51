import type { EntityType, TextReason } from "#api/common.ts";
import type { ItemFacts } from "#core/item-facts.ts";
import type { Principal, SourceAccess } from "#core/principals.ts";
import type { Section } from "#core/sections.ts";
import type { NewAuditRecord } from "./audit-chain.ts";
import type { PushResultName, PushFailure } from "./tables/items.ts";
import type { SyncCounts, SyncProgress } from "./tables/syncs.ts";
import type { AnalyzedText } from "#text/analyzer.ts";
import type { PeopleBatch, PeopleResult } from "./people-batch.ts";

/**
 * An entity as one item shows it. `entityId` is derived from (workspace, type, identity), so it is the same for every
 * item.
 */
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
  /** True for a container in which the item is. */
  isHome?: true;
}

/** The result of reading an item's content. */
export type ItemText =
  | {
      state: "text";
      text: string;
      textHash: string;
      sections: Section[];
      /** The file's line in which the text begins, when the lines of the text are those of the file. */
      firstLine?: number;
      /** The time limit cut the reading short, so the item is read again. */
      isOutOfTime?: true;
      analyzed: AnalyzedText;
    }
  /** There is no text, and no other try will find one until the item changes. */
  | { state: "none"; reason: TextReason; message: string; analyzed: AnalyzedText }
  /**
   * This try failed, and a former version stays. `retryAt` null = only a change of the item can help. `isFault`: the
   * cause is probably a bug in kb. `isUnread`: the content has no end, or is now too large, in any version.
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
  /** The kbId for a new item; a known (connector, externalId) keeps its own. */
  newKbId: string;
  externalId: string;
  parentExternalId: string | null;
  /** The externalId of the item to which it replies. */
  replyTo?: string | null;
  /** The source's reference to its content. */
  contentRef?: string | null;
  identityHint: string | null;
  /** The item's former id, when its source reports one; see `SourceItem.formerId`. */
  formerExternalId?: string;
  providerId: string;
  source: string;
  url: string | null;
  lineAnchor: string | null;
  version: string | null;
  entities: readonly ItemEntity[];
  /**
   * Who may read the item, already checked by the authority rule. Null = the access of its parent; without a parent,
   * open to no one.
   */
  access: SourceAccess | null;
  text: ItemText;
  /** The reader of its content; absent = the content wasn't read. */
  reader?: { name: string; version: number };
  /** The number of secrets that were masked. Source: S37. */
  maskedSecrets: number;
  /** The number of dates that were left out because they are impossible. Source: S68. */
  datesLeftOut?: number;
  /** Hash of the item's index data, without its access. */
  indexHash: string;
}

/** The fields that identify the state in which an item was read. */
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
 * One change to the stored items. The ops of a batch are applied in order. `clockAt` is when the reported permissions
 * were checked, if that isn't their connector's clock.
 */
export type ItemOp =
  /**
   * `isChildless`: the content has no child items, so stored ones are removed, as with `children` and an empty `keep`.
   * `version` is the version of the content, when the item's own version follows later, with `children`.
   */
  | { type: "upsert"; item: PreparedItem; clockAt?: number | null; isChildless?: true; version?: string | null }
  /**
   * Sets the item's own access, null as in `PreparedItem`; its children follow. With `of`, it is the access of that
   * version below that parent: if the item has changed since, nothing of the batch is stored. With `isSeen`, the item
   * is also marked as existing, as with `seen`.
   */
  | {
      type: "access";
      externalId: string;
      access: SourceAccess | null;
      of?: ItemState;
      clockAt?: number | null;
      isSeen?: true;
    }
  /**
   * Removes the item and its child items; with `subtree`, also everything below `<externalId>/`. Subject to the guard.
   */
  | { type: "delete"; externalId: string; subtree: boolean }
  /**
   * Marks items as existing and unchanged. With `isCounted`, counts those that the run hadn't listed before. Ends the
   * hold on them and their child items.
   */
  | { type: "seen"; externalIds: readonly string[]; isCounted?: true }
  /**
   * Keeps these child items that were made from an item's own content and removes the others with everything in them,
   * bypassing the guard, because the content has changed. Sets the item's `version`, because only now the item is fully
   * read.
   */
  | { type: "children"; externalId: string; keep: readonly string[]; version: string | null }
  /**
   * Restores a removed item. The access from before its removal is no longer valid, so no one may read the item until
   * its source reports who may. The item waits to be listed again.
   */
  | { type: "restore"; kbId: string }
  /** Records a skipped item. `failed`: its stored content stays; with `isUnread`, as its former content. */
  | { type: "skip"; externalId: string; reason: TextReason; message: string; retryable: boolean; isUnread?: true }
  /** Removes the former text and its child items from those of these items that couldn't be read since then. */
  | { type: "end_former"; kbIds: readonly string[]; since: number }
  /**
   * Removes these items, except those that the run or set has listed since, or whose source item it has listed. Removes
   * all or none, under the guard.
   */
  | { type: "sweep"; kbIds: readonly string[]; hold: boolean }
  /** Removes these items and their child items: all or none, under the guard. */
  | { type: "drop"; kbIds: readonly string[]; hold: boolean }
  /**
   * The content didn't match its listing, so the item must be listed again. Until then its stored content stays, for
   * the people who are in both its access and the listing.
   */
  | { type: "relist"; externalId: string; listed?: ListedAccess; clockAt?: number | null }
  /**
   * Removes these items and their child items, bypassing the guard, because a person left them out. With `ifElsewhere`,
   * only items that were last read at another place.
   */
  | { type: "remove"; kbIds: readonly string[]; ifElsewhere?: true }
  /** Ends the hold on these items, which are kept. */
  | { type: "release"; kbIds: readonly string[] }
  /**
   * Sets when the permissions of these items were checked: with their connector's (null), or at that time. With a cause
   * they weren't checked: an item with its own clock keeps that clock, and a refused item is hidden.
   */
  | { type: "clock"; externalIds: readonly string[]; at: number | null; cause: ClockCause | null };

/** Data of a run that is stored together with a batch. */
export interface BatchRun {
  syncId: string;
  /**
   * The mark for the items that the run lists: the id of the first run in a chain of runs that together list
   * everything.
   */
  passId?: string;
  /** The claimed job. A batch from a worker that lost its lease is rejected. */
  jobId: string;
  leaseOwner: string;
  scopeVersion: number;
  /** Events that leave no trace in the records. The run counts them itself, in addition to the batch's counts. */
  addCounts?: Partial<SyncCounts>;
  progress?: SyncProgress;
  /** JSON of the cursor that covers everything up to the end of this batch. */
  cursor?: string;
  /** JSON of the state that the source keeps for this cursor, by key; null deletes a key. */
  state?: Readonly<Record<string, string | null>>;
  /** The connector's clock from now on. */
  aclCheckedAt?: number;
}

/** Data of a push's upload that is stored together with a batch. */
export interface BatchUpload {
  uploadId: string;
  /**
   * `open`: the upload accepts lines. `ending`: items that aren't in the set are removed. In any other state nothing is
   * stored.
   */
  phase: "open" | "ending";
  /** The last line of the batch; null when the batch has no lines. */
  lines: number | null;
  /** For each line, its op or, if it has none, its result. */
  results: readonly ({ op: number } | { result: PushResultName })[];
  failures: readonly PushFailure[];
  /** The number of refused lines whose item is unknown. */
  unnamed: number;
}

export interface ItemBatch {
  connectorId: string;
  /**
   * The principals with which every access of this connector is ANDed: the connector's own group and its connection's.
   */
  always: readonly Principal[];
  /** The run to which the batch belongs; absent for a push. */
  run?: BatchRun;
  /**
   * The upload to which a push belongs. Without an upload and a run, the pushed items are treated as part of the open
   * set.
   */
  upload?: BatchUpload;
  /**
   * Nothing is stored unless this living item has this version or, if the version is undefined, doesn't exist. Absent
   * for a run.
   */
  expects?: { externalId: string; version: string | null | undefined };
  /**
   * A row that is appended to the audit in the batch's transaction if the batch changes who may read already stored
   * items. Its details state how many, which, and who was named before and is now. Absent for a run.
   */
  trace?: NewAuditRecord;
  /** Set where permissions are mirrored, and so expire: the connector's clock. */
  mirror?: { aclCheckedAt: number | null };
  /** The highest number of living items in 24 hours, from `guardOf`, for the guard over removals. */
  highest: number;
  now: number;
  ops: readonly ItemOp[];
  /** Groups and users that the run reported with the items. They are stored in the same transaction. */
  people?: PeopleBatch;
}

/** The result of one op. `held`: the removal, or part of it, waits for approval. */
export type OpOutcome = "upserted" | "unchanged" | "removed" | "held" | "absent" | "skipped" | "failed" | "done";

/**
 * Why no one may read an item because of its parents: one isn't stored or was removed, one is open to no one, there is
 * a cycle, or there are more than 16.
 */
export type ParentFailure = "missing" | "nobody" | "circle" | "too_deep";

/** An item that no one may read because of its parents, with the op that reported it. */
export interface HiddenChild {
  op: number;
  parentId: string;
  failure: ParentFailure;
}

export type BatchResult =
  | {
      isApplied: true;
      outcomes: OpOutcome[];
      /** The hidden items in their state at the end of the batch. */
      hiddenChildren: HiddenChild[];
      isCancelRequested: boolean;
      /** The result for the batch's groups and users. */
      people?: Extract<PeopleResult, { isApplied: true }>;
      tookMs: number;
    }
  /** Why nothing was stored. */
  | { isApplied: false; reason: "lease_lost" | "scope_changed" | "connector_inactive" };

/** How many removals are allowed in 24 hours without approval: this many, or `GUARD_SHARE` of the highest size. */
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
 * Whether a text that became the former one at this time may still be kept. For an impossible time, which an older kb
 * may have stored, it may not.
 */
export function isFormer(formerSince: number, now: number): boolean {
  return Math.abs(now - formerSince) < FORMER_TEXT_MS;
}

/**
 * The access of child items that were stored before children could have their own access. No one may read them until
 * the source reports them again.
 */
export const UNTOLD_ACCESS = -1;

/** The result of deleting some of the accesses that no item uses any more. */
export interface SweptAccesses {
  isDone: boolean;
  /** Accesses deleted by this call. */
  accesses: number;
  lists: number;
}

/** Maps the outcome of an op to the result name of its line. */
export function pushResultOf(outcome: OpOutcome): PushResultName {
  return outcome === "skipped" || outcome === "done" ? "unchanged" : outcome;
}
