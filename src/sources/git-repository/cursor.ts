import { z } from "zod";

const Oid = z.string().regex(/^[0-9a-f]{40,64}$/);

/** Where a connector stands. */
export const GitCursor = z.object({
  /** The commit that is handed over completely; null before the first end. */
  base: Oid.nullable(),
  /** How URLs were made for it: another way, and everything is handed over again. */
  placeKey: z.string().nullable(),
});
export type GitCursor = z.infer<typeof GitCursor>;

/** A walk under way. A listing goes on in its own run; what a walk through changes began is ended by any, since it names just these. */
export const GitPlace = z.object({
  kind: z.enum(["listing", "changes"]),
  commit: Oid,
  ref: z.object({ short: z.string(), isTag: z.boolean() }),
  /** The commit that is handed over completely, of changes; of a listing the one that renames are told against. */
  from: Oid.nullable(),
  /** Entries looked at. */
  position: z.number().int(),
});
export type GitPlace = z.infer<typeof GitPlace>;
