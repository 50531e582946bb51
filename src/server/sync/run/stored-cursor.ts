import { z } from "zod";
import type { SourceRef } from "#sources/outcomes.ts";
import type { SessionSpec } from "#sources/session.ts";

/** A run's position, and the position in its source's feed. */
export interface StoredCursor<Cursor, Checkpoint> {
  feed?: Cursor | undefined;
  walk?: Walk<Checkpoint> | undefined;
}

interface Walk<Checkpoint> {
  runId: string;
  checkpoint: Checkpoint;
  done: number;
  /** Parts that could not be read, so the items in them were not named. */
  failed: SourceRef[];
}

const StoredWhat = z.union([
  z.object({ container: z.object({ type: z.string(), id: z.string() }), isRest: z.literal(true).optional() }),
  z.object({ externalId: z.string() }),
  z.object({ group: z.string() }),
]);

/**
 * Makes a schema that drops an unreadable cursor or checkpoint. Everything is then listed again, and nothing is lost.
 */
export function storedCursorSchema<Cursor, Checkpoint>({ cursor, checkpoint }: SessionSpec<never, Cursor, Checkpoint>) {
  const Stored = z.object({
    feed: z.unknown().optional(),
    walk: z
      .object({ runId: z.string(), checkpoint: z.unknown().optional(), done: z.number(), failed: z.array(StoredWhat) })
      .optional()
      .catch(undefined),
  });
  return (stored: unknown): StoredCursor<Cursor, Checkpoint> => {
    const { walk: former, feed = former ? undefined : lone(stored) } = Stored.safeParse(stored).data ?? {};
    const place = checkpoint.safeParse(former?.checkpoint);
    return {
      feed: cursor.safeParse(feed).data,
      // kb wrote the recorded failures itself, so their types are those of `What`.
      walk:
        former && place.success
          ? { ...former, checkpoint: place.data, failed: former.failed as SourceRef[] }
          : undefined,
    };
  };
}

/** Converts a cursor that was stored before sources had sessions. It may contain a walk of an older format. */
function lone(stored: unknown): unknown {
  return typeof stored === "object" && stored !== null ? stored : undefined;
}
