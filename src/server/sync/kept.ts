import { z } from "zod";
import type { What } from "#sources/outcomes.ts";
import type { SessionSpec } from "#sources/session.ts";

/** Where a run stands, and the feed of its source. */
export interface Kept<Cursor, Checkpoint> {
  feed?: Cursor | undefined;
  walk?: Walk<Checkpoint> | undefined;
}

interface Walk<Checkpoint> {
  runId: string;
  checkpoint: Checkpoint;
  done: number;
  /** What could not be looked at: what is in it was not named. */
  failed: What[];
}

const StoredWhat = z.union([
  z.object({ container: z.object({ type: z.string(), id: z.string() }) }),
  z.object({ externalId: z.string() }),
  z.object({ group: z.string() }),
]);

/** An unreadable cursor or checkpoint is dropped: everything is listed again, and nothing is lost. */
export function keptSchema<Cursor, Checkpoint>({ cursor, checkpoint }: SessionSpec<never, Cursor, Checkpoint>) {
  const Stored = z.object({
    feed: z.unknown().optional(),
    walk: z
      .object({ runId: z.string(), checkpoint: z.unknown().optional(), done: z.number(), failed: z.array(StoredWhat) })
      .optional()
      .catch(undefined),
  });
  return (stored: unknown): Kept<Cursor, Checkpoint> => {
    const { walk: former, feed = former ? undefined : lone(stored) } = Stored.safeParse(stored).data ?? {};
    const place = checkpoint.safeParse(former?.checkpoint);
    return {
      feed: cursor.safeParse(feed).data,
      // What was said to have failed was read from our own notes: its types are those of `What`.
      walk:
        former && place.success ? { ...former, checkpoint: place.data, failed: former.failed as What[] } : undefined,
    };
  };
}

/** A cursor that was stored before there were sessions, maybe with a walk of its own kind in it. */
function lone(stored: unknown): unknown {
  return typeof stored === "object" && stored !== null ? stored : undefined;
}
