import type { EntityType, TextReason } from "#api/common.ts";
import type { ItemFacts } from "#core/item-facts.ts";
import type { Principal, SourceAccess } from "#core/principals.ts";
import type { ClockCause } from "#storage/access/item-clocks.ts";
import type { Section } from "#core/sections.ts";
import type { NewAuditRecord } from "#storage/audit-chain.ts";
import type { PushResultName, PushFailure } from "#storage/records/push-uploads.ts";
import type { SyncCounts, SyncProgress } from "#storage/records/syncs.ts";
import type { AnalyzedText } from "#text/analyzer.ts";
import type { PeopleBatch, PeopleResult } from "./people-batch.ts";

/** An entity as one item shows it. `entityId` is made from (workspace, type, identity): the same again for the same. */
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
  /** A container that the item lives in. */
  isHome?: true;
}

/** What became of an item's bytes. */
export type ItemText =
  | {
      state: "text";
      text: string;
      textHash: string;
      sections: Section[];
      /** The file's line that the text begins with, when its lines are the file's. */
      firstLine?: number;
      /** Its time was over before its end: it is read again. */
      isOutOfTime?: true;
      analyzed: AnalyzedText;
    }
  /** No text, and no other try will find one until the item changes. */
  | { state: "none"; reason: TextReason; message: string; analyzed: AnalyzedText }
  /**
   * This try failed: a former version stays; `retryAt` null = only a change can help. `isFault`: it looks like a mistake of kb.
   * `isUnread`: the content has no end, or is too large now, whatever its version.
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
  /** Its kbId if it is new; a known (connector, externalId) keeps the one it has. */
  newKbId: string;
  externalId: string;
  parentExternalId: string | null;
  /** The item it answers, by its externalId. */
  replyTo?: string | null;
  /** What its source finds its content by. */
  contentRef?: string | null;
  identityHint: string | null;
  /** The id it had until now, when its source says so; see `SourceItem.formerId`. */
  formerExternalId?: string;
  providerId: string;
  source: string;
  url: string | null;
  lineAnchor: string | null;
  version: string | null;
  entities: readonly ItemEntity[];
  /** Already judged by the authority rule. Null = its parent's; without a parent nobody's. */
  access: SourceAccess | null;
  text: ItemText;
  /** What has read its content; absent = nothing has. */
  reader?: { name: string; version: number };
  /** How many secrets were taken out of it. Source: S37. */
  maskedSecrets: number;
  /** How many of its dates were left out, because none of these years has them. Source: S68. */
  datesLeftOut?: number;
  /** Hash of everything that the index holds of it apart from its access. */
  indexHash: string;
}

/** What tells whether an item is still the one that somebody looked at. */
export interface ItemState {
  version: string | null;
  parentExternalId: string | null;
}

/** Who may read an item, as it was listed. */
export type ListedAccess = Pick<PreparedItem, "access" | "parentExternalId">;

/**
 * One change to the stored items; those of a batch are applied in the order given. `clockAt` is when the permissions that it
 * names were looked at, where their connector's clock does not cover them.
 */
export type ItemOp =
  /**
   * With `isChildless` nothing was found in its content: what is stored of that goes, as with `children` that keep nothing.
   * `version` is that of the content where the item's own comes later, with `children`.
   */
  | { type: "upsert"; item: PreparedItem; clockAt?: number | null; isChildless?: true; version?: string | null }
  /**
   * A new access of its own, null as in `PreparedItem`; what has it for a parent follows. With `of` it is the access of
   * that version below that parent: nothing of the batch is stored when the item is another one by now. With `isSeen` it is
   * alive too, as with `seen`.
   */
  | {
      type: "access";
      externalId: string;
      access: SourceAccess | null;
      of?: ItemState;
      clockAt?: number | null;
      isSeen?: true;
    }
  /** Removes it and its child items, with `subtree` also what lies below `<externalId>/`; under the guard. */
  | { type: "delete"; externalId: string; subtree: boolean }
  /**
   * Alive and unchanged, and with `isCounted` counted so unless the run had named it. Of those that were held, the child items
   * are held no more either.
   */
  | { type: "seen"; externalIds: readonly string[]; isCounted?: true }
  /**
   * Of the child items that were made of an item's own content these stay; the others go, with what is in them, and without
   * asking the guard: the content has changed. `version` becomes the item's: it is read whole only now.
   */
  | { type: "children"; externalId: string; keep: readonly string[]; version: string | null }
  /**
   * A removed item lives again, and nobody may read it until its source says who may: what was said before it was removed
   * is not true for that. It waits to be listed again.
   */
  | { type: "restore"; kbId: string }
  /** Not taken. `failed`: what is stored stays; with `isUnread` as what its content was before. */
  | { type: "skip"; externalId: string; reason: TextReason; message: string; retryable: boolean; isUnread?: true }
  /** Takes the former text, with what was made of it, from those of these that could not be read again since then. */
  | { type: "end_former"; kbIds: readonly string[]; since: number }
  /**
   * Removes these unless the run or set has named them, or the item of the source that they are inside, since; under the
   * guard as a whole: all of them or none.
   */
  | { type: "sweep"; kbIds: readonly string[]; hold: boolean }
  /** Removes these and their child items; under the guard as a whole. */
  | { type: "drop"; kbIds: readonly string[]; hold: boolean }
  /**
   * Its content was not the one that it was listed with: it is to be listed again. What is stored stays until then, for whom
   * both that and the listing let in.
   */
  | { type: "relist"; externalId: string; listed?: ListedAccess; clockAt?: number | null }
  /**
   * Removes these and their child items without asking the guard: left out by a person's own act. With `ifElsewhere` only
   * what was read elsewhere, and not since.
   */
  | { type: "remove"; kbIds: readonly string[]; ifElsewhere?: true }
  /** Ends the hold on these: they are kept. */
  | { type: "release"; kbIds: readonly string[] }
  /**
   * Says when the permissions of these were looked at: with their connector's (null), or then. With a cause they were not:
   * what has a clock of its own keeps it, and what was refused is withheld.
   */
  | { type: "clock"; externalIds: readonly string[]; at: number | null; cause: ClockCause | null };

/** What a run stores about itself together with a batch. */
export interface BatchRun {
  syncId: string;
  /** What marks the items that it names: the first of the runs that list everything together, each going on from the one before. */
  passId?: string;
  /** The claimed job: a batch of a worker that lost its lease is refused. */
  jobId: string;
  leaseOwner: string;
  scopeVersion: number;
  /** Counted by the run itself, in addition to what the batch counts: what leaves no trace in the records. */
  addCounts?: Partial<SyncCounts>;
  progress?: SyncProgress;
  /** JSON of the cursor that covers everything up to the end of this batch. */
  cursor?: string;
  /** JSON of what the source keeps with this cursor, by key; null deletes. */
  state?: Readonly<Record<string, string | null>>;
  /** The connector's clock from now on. */
  aclCheckedAt?: number;
}

/** What a push stores about its upload together with a batch. */
export interface BatchUpload {
  uploadId: string;
  /** `open`: it takes lines. `ending`: what a set did not name goes. In another state nothing is stored. */
  phase: "open" | "ending";
  /** The last line of the batch; null without one. */
  lines: number | null;
  /** Of each line the op that answers it, or what became of it without one. */
  results: readonly ({ op: number } | { result: PushResultName })[];
  failures: readonly PushFailure[];
  /** Refused lines whose item is not known. */
  unnamed: number;
}

export interface ItemBatch {
  connectorId: string;
  /** Principals every access of this connector is ANDed with: its own group, its connection's. */
  always: readonly Principal[];
  /** Absent for a push. */
  run?: BatchRun;
  /** A push that belongs to an upload. Without it and without a run, what is named counts for the set that is open. */
  upload?: BatchUpload;
  /** Nothing is stored unless this living item has this version, or, undefined, is not there. Absent for a run. */
  expects?: { externalId: string; version: string | null | undefined };
  /**
   * Appended to the audit in the batch's transaction if it changes who may read items that were stored before; its
   * details get how many, which, and who was named before and is now. Absent for a run.
   */
  trace?: NewAuditRecord;
  /** Given where permissions are mirrored, and so grow old: the connector's clock. */
  mirror?: { aclCheckedAt: number | null };
  /** Highest number of living items in 24 hours as `guardOf` gave it, for the guard over removals. */
  highest: number;
  now: number;
  ops: readonly ItemOp[];
  /** Groups and users that the run told of with them; stored in the same transaction. */
  people?: PeopleBatch;
}

/** What became of one op. `held`: its removal, or that of some of it, waits for approval. */
export type OpOutcome = "upserted" | "unchanged" | "removed" | "held" | "absent" | "skipped" | "failed" | "done";

/** Why nobody may read an item on account of its parents: one is not stored or removed, one is nobody's, there is a circle, or there are more than 16. */
export type ParentFailure = "missing" | "nobody" | "circle" | "too_deep";

/** An item that nobody may read on account of its parents, by the op that named it. */
export interface HiddenChild {
  op: number;
  parentId: string;
  failure: ParentFailure;
}

export type BatchResult =
  | {
      isApplied: true;
      outcomes: OpOutcome[];
      /** As they stand at the end of the batch. */
      hiddenChildren: HiddenChild[];
      isCancelRequested: boolean;
      /** What became of the batch's groups and users. */
      people?: Extract<PeopleResult, { isApplied: true }>;
      tookMs: number;
    }
  /** Nothing was stored. */
  | { isApplied: false; reason: "lease_lost" | "scope_changed" | "connector_inactive" };

/** Removals that pass without approval: as many as this, or `GUARD_SHARE` of the highest size, in 24 hours. */
export const GUARD_ITEMS = 20;
export const GUARD_SHARE = 0.2;
export const GUARD_WINDOW_MS = 24 * 3_600_000;

/** How many removals in 24 hours pass without approval. Source: S41. */
export function removalLimit(highest: number): number {
  return Math.max(GUARD_ITEMS, Math.floor(highest * GUARD_SHARE));
}

/** What a line's answer calls the outcome of its op. */
export function pushResultOf(outcome: OpOutcome): PushResultName {
  return outcome === "skipped" || outcome === "done" ? "unchanged" : outcome;
}
