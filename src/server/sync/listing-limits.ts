import { z } from "zod";
import type { ItemWriteStore } from "#storage/records/item-writes.ts";

/** Limits on how much one run lists. */
export interface ListingLimits {
  /** Requests and folders. */
  looks: number;
  /** Milliseconds of listing at the source; reading files and waiting in line don't count. */
  ms: number;
}

/** Source: docs/decisions/0070. */
export const LISTING_LIMITS: ListingLimits = { looks: 20_000, ms: 3_600_000 };

/** The key in a connector's state under which its run keeps its counts; no source has such a key. */
const BOUND_KEY = "kb:bound";

const Stored = z.object({ syncId: z.string(), looks: z.number(), ms: z.number() });

/** How much a run has listed, over all its attempts. */
export type ListingTally = Awaited<ReturnType<typeof makeListingTally>>;

/** Makes the bound of a run, starting from the counts of its earlier attempts. */
export async function makeListingTally(
  itemWrites: Pick<ItemWriteStore, "findState">,
  { connectorId, syncId }: { connectorId: string; syncId: string },
  limits: ListingLimits = LISTING_LIMITS,
) {
  const text = await itemWrites.findState(connectorId, BOUND_KEY);
  const stored = text === undefined ? undefined : Stored.safeParse(JSON.parse(text)).data;
  let { looks, ms } = stored?.syncId === syncId ? stored : { looks: 0, ms: 0 };
  return {
    /** Counts the milliseconds in which the source produced an event. */
    took: (more: number): void => void (ms += more),
    /** Counts the folders and requests that a checkpoint covers. */
    count: (more: number): void => void (looks += more),
    /** The state to store with the checkpoint; null = the run has stopped counting. */
    state: (isOver: boolean = false): Record<string, string | null> => ({
      [BOUND_KEY]: isOver ? null : JSON.stringify({ syncId, looks, ms }),
    }),
    /** The reason why the run has to stop here, for the connector's owner; undefined while it may go on. */
    why(): string | undefined {
      if (looks < limits.looks && ms < limits.ms) return undefined;
      return `Stopped after ${looks} requests or folders and ${Math.round(ms / 60_000)} minutes of listing. The next sync continues from there. Nothing is removed until a sync reaches the end.`;
    },
  };
}
