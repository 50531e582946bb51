import type { Clock } from "#core/clock.ts";
import { networkOf } from "#net/client-ip.ts";
import type { Actor } from "#storage/access/actor.ts";
import { addRead, MAX_IDS, READ_ACTION, type ReadDetails, type ReadRecord } from "#storage/read-rows.ts";
import type { AuditBatcher } from "./batcher.ts";
import type { ReadPlace, ReadRecorder } from "./recorder.ts";
import { describeCredential, rowOf } from "./rows.ts";
import { makeSeenItems } from "./seen-items.ts";

interface ReadRow {
  workspaceId: string;
  row: ReadRecord;
}

const DAY_MS = 86_400_000;
/** Prefix length of a network; the same as in records of token use. */
const NETWORK_BITS = 24;
/** Maximum counts in memory: about 2 MB. */
const MAX_COUNTS = 2_000;

/**
 * Records the items in each response. An item gets one record for each credential, network and UTC day; repeats are
 * only counted. After a restart an item may be recorded again, but none is left out. Source: S53.
 */
export function makeReadRecorder({
  clock,
  batcher,
}: {
  clock: Clock;
  batcher: AuditBatcher;
}): ReadRecorder & { /** Adds the counts to the waiting rows, so that the next flush writes them. */ settle(): void } {
  const seen = makeSeenItems();
  /** Rows of the current second, to which a response can still be added. */
  const open = new Map<string, ReadRow>();
  let taken = 0;
  /** Rows that count responses without a new item. */
  const counts = new Map<string, ReadRow>();
  let day = NaN;

  function settle(): void {
    for (const [key, { workspaceId, row }] of counts) {
      if (!batcher.hasRoom()) return;
      batcher.add(workspaceId, row);
      counts.delete(key);
    }
  }

  function turnTo(today: number): void {
    if (today === day) return;
    seen.clear();
    settle();
    day = today;
  }

  function count(key: string, next: ReadRow): void {
    const counted = counts.get(key);
    if (counted !== undefined) return addRead(counted.row, next.row);
    if (counts.size >= MAX_COUNTS) settle();
    counts.set(key, next);
  }

  function name(key: string, next: ReadRow): void {
    if (taken !== batcher.taken()) open.clear();
    taken = batcher.taken();
    const waiting = open.get(key);
    if (waiting !== undefined && batcher.hasRoom() && waiting.row.details.kbIds.length < MAX_IDS) {
      return addRead(waiting.row, next.row);
    }
    batcher.add(next.workspaceId, next.row);
    open.set(key, next);
  }

  return {
    recordReads(actor, place, kbIds) {
      if (kbIds.length === 0) return;
      const now = clock.now();
      turnTo(Math.floor(now / DAY_MS));
      const network = networkOf(actor.origin?.clientIp ?? null, NETWORK_BITS);
      const reader = `${actor.workspaceId} ${describeCredential(actor.credential)} ${network}`;
      const items = [...new Set(kbIds)];
      const fresh = seen.findNew(reader, items);
      const next = makeReadRow(actor, place, { fresh, repeats: items.length - fresh.length, now });
      const key = `${day} ${reader} ${place.type} ${place.name} ${next.row.details.client ?? ""}`;
      // If rows can't be written, nothing may be shown; in that case `name` throws.
      if (fresh.length === 0 && batcher.hasRoom()) return count(key, next);
      name(key, next);
      seen.mark(reader, fresh);
    },
    settle,
  };
}

function makeReadRow(
  actor: Actor,
  place: ReadPlace,
  { fresh, repeats, now }: { fresh: string[]; repeats: number; now: number },
): ReadRow {
  const details: ReadDetails = { client: actor.origin?.client ?? null, kbIds: fresh, answers: 1, repeats };
  const row = rowOf(actor, { action: READ_ACTION, target: { type: place.type, id: place.name }, details }, now);
  return { workspaceId: actor.workspaceId, row: { ...row, details } };
}
