import type { IndexChange } from "#storage/search-index.ts";
import type { SourceAccess } from "#core/principals.ts";
import { NO_COUNTS, type SyncCounts } from "#storage/records/syncs.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { makeConjoin } from "./conjunction.ts";
import { type EffectiveAccess, makeEffectiveAccess } from "./effective-access.ts";
import { type ItemBatch, removalLimit, type ClockCause } from "#storage/item-batch.ts";
import type { Interner } from "./intern.ts";
import { openSetOf } from "./upload.ts";
import { type ItemRows, type KnownItem, makeItemRows } from "./item-rows.ts";
import { removedLately } from "./removal-windows.ts";

/** State of one batch while it is applied. */
export interface Work {
  batch: ItemBatch;
  rows: ItemRows;
  changes: IndexChange[];
  counts: SyncCounts;
  /** Unchanged items that the run listed, which add to no other count. */
  marked: number;
  /** True once the run has listed an item for the first time, or removed one. */
  isFurther: boolean;
  /** Removals of this batch that the guard counts, and how many removals it allows. */
  guarded: number;
  allowance: number;
  /** The run, or the open set. An item that it lists now isn't swept by it. */
  seenBy: string | null;
  /** Returns the number of an access whose permissions were checked at this time; null = at its connector's clock. */
  intern(access: SourceAccess, clockAt: number | null): Promise<number>;
  /** Returns the number of the same access with another clock. */
  reclock(ownAclId: number | null, clockAt: number | null): Promise<number>;
  /** Items that couldn't be checked, by kbId. */
  exceptions: Map<string, ClockCause>;
  /** Returns the number of the access that admits only people admitted by both. */
  conjoin(a: number, b: number): number;
  effective: EffectiveAccess;
  /** The index of the current op. */
  op: number;
  /** Items below which accesses may have changed; true = the item has moved. */
  touched: Map<string, boolean>;
  /** Items whose index entry is rebuilt from stored data, by kbId. */
  indexedAgain: Set<string>;
  /** Items that no one could read, because of their parents, when their op was applied. */
  hidden: { op: number; externalId: string }[];
  /** Already stored items whose own or inherited access has changed, with the former accesses. */
  accessChanges: Pick<KnownItem, "kbId" | "aclId" | "ownAclId">[];
  addSkip(externalId: string, reason: string, message: string, retryable: boolean): void;
}

/**
 * Makes the state of a batch. `intern` returns the number of an access; `noteAccess` is called with every number that a
 * row gets.
 */
export function makeWork(
  connection: SqliteConnection,
  workspaceId: string,
  batch: ItemBatch,
  {
    interner,
    intern,
    reclock,
    noteAccess,
  }: Pick<Work, "intern" | "reclock"> & { interner: Interner; noteAccess(aclId: number): void },
): Work {
  const { run, connectorId } = batch;
  const interned = new Map<string, Promise<number>>();
  const reclocked = new Map<string, Promise<number>>();
  const rows = makeItemRows(connection, workspaceId, connectorId, noteAccess);
  const conjoin = makeConjoin(interner);
  return {
    batch,
    rows,
    conjoin,
    effective: makeEffectiveAccess((externalId) => rows.find(externalId), conjoin),
    changes: [],
    indexedAgain: new Set(),
    op: 0,
    touched: new Map(),
    hidden: [],
    accessChanges: [],
    counts: { ...NO_COUNTS },
    marked: 0,
    isFurther: false,
    guarded: 0,
    allowance: removalLimit(batch.highest) - removedLately(connection, { workspaceId, connectorId }, batch.now),
    seenBy: run?.passId ?? run?.syncId ?? openSetOf(connection, workspaceId, connectorId),
    exceptions: new Map(),
    reclock(ownAclId, clockAt) {
      const key = `${ownAclId} ${clockAt}`;
      const found = reclocked.get(key) ?? reclock(ownAclId, clockAt);
      reclocked.set(key, found);
      return found;
    },
    intern(access, clockAt) {
      const key = JSON.stringify([clockAt, access]);
      const found = interned.get(key) ?? intern(access, clockAt);
      interned.set(key, found);
      return found;
    },
    addSkip(externalId, reason, message, retryable) {
      if (!run) return;
      connection
        .prepare(
          `insert or replace into sync_skips (workspaceId, syncId, externalId, reason, message, retryable)
           select ?, ?, ?, ?, ?, ? where (select count(*) from sync_skips where workspaceId = ? and syncId = ?) < ?`,
        )
        .run(
          workspaceId,
          run.syncId,
          externalId,
          reason,
          message,
          retryable ? 1 : 0,
          workspaceId,
          run.syncId,
          SKIPS_KEPT,
        );
    },
  };
}

/** Limit of skips that are kept for a run. This sample shows what is wrong; the counts show how often. */
const SKIPS_KEPT = 100;

/**
 * Counts an item's result once per run, however many attempts list the item. If a later try succeeds, the item moves to
 * that count.
 */
export function tally(work: Work, known: KnownItem | undefined, outcome: "upserted" | "unchanged" | "failed"): void {
  const { counts, batch, seenBy } = work;
  const isCounted = batch.run !== undefined && known?.removedAt === null && known.seenBy === seenBy;
  const failedBefore = known?.textReason === "failed";
  if (!isCounted) counts.seen++;
  else if (failedBefore === (outcome === "failed")) return;
  else if (failedBefore) counts.failed--;
  counts[isCounted && failedBefore ? "upserted" : outcome]++;
  work.isFurther = true;
}

/** Returns the state of an item that gets this access. A held item stays held. */
export function stateUnder(aclId: number, item: Pick<KnownItem, "indexState" | "textHash" | "textReason">): string {
  return item.indexState === "held" ? "held" : stateOf(aclId, item);
}

/**
 * Returns the state that people are shown, from stored fields. With an access that is open to no one, it is
 * `acl_unknown`: the item can't be found, whatever its text.
 */
export function stateOf(aclId: number, { textHash, textReason }: Pick<KnownItem, "textHash" | "textReason">): string {
  if (aclId === 0) return "unsearchable";
  if (textReason === "failed") return "failed";
  return textHash === null ? "unsearchable" : "indexed";
}
