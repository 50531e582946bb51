import { z } from "zod";

const Oid = z.string().regex(/^[0-9a-f]{40,64}$/);

/** Position of a connector. */
export const GitCursor = z.object({
  /** The last commit that was fully reported; null before the first end. */
  base: Oid.nullable(),
  /** How its URLs were built: if that changes, everything is reported again. */
  placeKey: z.string().nullable(),
});
export type GitCursor = z.infer<typeof GitCursor>;

/**
 * A walk in progress. A listing resumes only in its own run; a walk through changes that didn't finish is completed by
 * any run, since it names only those.
 */
export const GitPlace = z.object({
  kind: z.enum(["listing", "changes"]),
  commit: Oid,
  ref: z.object({ short: z.string(), isTag: z.boolean() }),
  /** For changes, the commit that was fully reported; for a listing, the one that renames are compared with. */
  from: Oid.nullable(),
  /** Number of entries processed. */
  position: z.number().int(),
});
export type GitPlace = z.infer<typeof GitPlace>;
