import { z } from "zod";
import type { ItemWriteStore } from "#storage/records/item-writes.ts";

/** Limits on how much one run lists. */
export interface ListingLimits {
  /** Requests and folders. */
  looks: number;
  /** Milliseconds of listing at the source, without the time for reading files and for waiting in the queue. */
  ms: number;
}

/** The default limits. Source: docs/decisions/0070. */
export const LISTING_LIMITS: ListingLimits = { looks: 20_000, ms: 3_600_000 };

/** The key in a connector's state that stores the run's counts. No source uses this key. */
const BOUND_KEY = "kb:bound";

const Stored = z.object({ syncId: z.string(), looks: z.number(), ms: z.number() });

/** The counts of what a run has listed, over all its attempts. */
export type ListingTally = Awaited<ReturnType<typeof makeListingTally>>;

/** Makes the counter of a run's listing limits. It starts with the counts of the run's earlier attempts. */
export async function makeListingTally(
  itemWrites: Pick<ItemWriteStore, "findState">,
  { connectorId, syncId }: { connectorId: string; syncId: string },
  limits: ListingLimits = LISTING_LIMITS,
) {
  const text = await itemWrites.findState(connectorId, BOUND_KEY);
  const stored = text === undefined ? undefined : Stored.safeParse(JSON.parse(text)).data;
  let { looks, ms } = stored?.syncId === syncId ? stored : { looks: 0, ms: 0 };
  return {
    /** Adds the milliseconds that the source took to produce an event. */
    took: (more: number): void => void (ms += more),
    /** Adds the folders and requests that a checkpoint covers. */
    count: (more: number): void => void (looks += more),
    /** Returns the state to store with the checkpoint; null = the run no longer counts. */
    state: (isOver: boolean = false): Record<string, string | null> => ({
      [BOUND_KEY]: isOver ? null : JSON.stringify({ syncId, looks, ms }),
    }),
    /** Returns why the run has to stop here, for the connector's owner; undefined while the run may continue. */
    why(): string | undefined {
      if (looks < limits.looks && ms < limits.ms) return undefined;
      return `Stopped after ${looks} requests or folders and ${Math.round(ms / 60_000)} minutes of listing. The next sync continues from there. Nothing is removed until a sync reaches the end.`;
    },
  };
}
