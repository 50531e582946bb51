import { defined } from "#core/defined.ts";
import type { SourceItem } from "#sources/item.ts";
import type { Batching } from "#sources/session.ts";
import { SEEN_IDS } from "#sources/seen.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";

/** A crash repeats at most this much work. Unchanged files cost little, so many of them share a batch. */
export const DEFAULT_BATCHING: Batching = { upserts: 200, seen: 2_000, listings: 200, everyMs: 2_000 };

/**
 * The factor by which the first checkpoint comes sooner. Until the first checkpoint, a run counts as starting, and the
 * run's turn is many times as long as its start.
 */
const FIRST_SOONER = 10;

export type Batches = ReturnType<typeof makeBatches>;

/**
 * Collects the events of a listing into batches. A checkpoint is due after a given number of events and at least every
 * `everyMs`.
 */
export function makeBatches(limits: Partial<Batching>, now: () => number, doneBefore = 0) {
  const { upserts, seen, listings, everyMs } = { ...DEFAULT_BATCHING, ...limits };
  let done = doneBefore;
  let hasListings = false;
  let handed = { upserts: 0, seen: 0, listings: 0 };
  let unchanged: string[] = [];
  let dueAt = now() + everyMs / FIRST_SOONER;

  function* flush(): Generator<SyncEvent, void> {
    if (unchanged.length > 0) yield { t: "seen", externalIds: unchanged };
    unchanged = [];
  }

  return {
    /** The number of items so far, including those of earlier attempts. */
    get done() {
      return done;
    },
    /**
     * Counts folders, or requests that list. A run that never counts any reports none in its checkpoints, and listing
     * limits don't stop it.
     */
    countListings(count: number = 1): void {
      hasListings = true;
      handed.listings += count;
    },
    /** Names an item that is unchanged from the stored one. */
    *seen(externalId: string): Generator<SyncEvent, void> {
      done += 1;
      handed.seen += 1;
      unchanged.push(externalId);
      if (unchanged.length >= SEEN_IDS) yield* flush();
    },
    upsert(item: SourceItem): SyncEvent {
      done += 1;
      handed.upserts += 1;
      return { t: "upsert", item };
    },
    /** Whether the next checkpoint is due. */
    isDue: (): boolean =>
      handed.upserts >= upserts || handed.seen >= seen || handed.listings >= listings || now() >= dueAt,
    /** Whether an item was handed over since the last checkpoint. An attempt that resumes here then has less work. */
    hasChanged: (): boolean => handed.upserts > 0,
    /** Names the ids that are pending. */
    flush,
    /** Yields the checkpoint with this cursor and the run's progress, after all events that it covers. */
    *checkpoint(
      cursor: unknown,
      { total, note, isLast }: { total?: number | undefined; note?: string; isLast?: true } = {},
    ): Generator<SyncEvent, void> {
      yield* flush();
      yield { t: "checkpoint", cursor, ...(hasListings && { listings: handed.listings }), ...(isLast && { isLast }) };
      yield { t: "progress", done, ...defined({ note, total: total && Math.max(total, done) }) };
      handed = { upserts: 0, seen: 0, listings: 0 };
      dueAt = now() + everyMs;
    },
  };
}
