import { z } from "zod";

const Oid = z.string().regex(/^[0-9a-f]{40,64}$/);

/** The position of a connector. */
export const GitCursor = z.object({
  /** The last commit that was fully reported; null before the first complete run. */
  base: Oid.nullable(),
  /** Identifies how the URLs of items were built. If it changes, everything is reported again. */
  placeKey: z.string().nullable(),
});
export type GitCursor = z.infer<typeof GitCursor>;

/**
 * An unfinished walk. A listing is resumed only by its own run. A walk through changes may be completed by any run,
 * since it names only changes.
 */
export const GitPlace = z.object({
  kind: z.enum(["listing", "changes"]),
  commit: Oid,
  ref: z.object({ short: z.string(), isTag: z.boolean() }),
  /**
   * For a walk through changes, the commit that was fully reported. For a listing, the commit that renames are compared
   * with.
   */
  from: Oid.nullable(),
  /** Number of entries processed. */
  position: z.number().int(),
});
export type GitPlace = z.infer<typeof GitPlace>;
