import { z } from "zod";

/** Where a connector stands. */
export interface GitCursor {
  /** The commit that is handed over completely; null before the first end. */
  base: string | null;
  /** How URLs were made for it: another way, and everything is handed over again. */
  placeKey: string | null;
  /** A walk under way. A listing goes on in its own run; a walk through changes in any, since it names just these. */
  walk: {
    kind: "listing" | "changes";
    commit: string;
    ref: { short: string; isTag: boolean };
    runId: string | null;
    /** The commit that renames are told against. */
    from: string | null;
    /** Entries looked at. */
    position: number;
    done: number;
  } | null;
}

/** An unreadable cursor (from another version) is ignored: everything is checked again, and nothing is lost. */
export function parseCursor(stored: unknown): GitCursor {
  return StoredCursor.safeParse(stored).data ?? { base: null, placeKey: null, walk: null };
}

const Oid = z.string().regex(/^[0-9a-f]{40,64}$/);

const StoredCursor = z.object({
  base: Oid.nullable(),
  placeKey: z.string().nullable(),
  walk: z
    .object({
      kind: z.enum(["listing", "changes"]),
      commit: Oid,
      ref: z.object({ short: z.string(), isTag: z.boolean() }),
      runId: z.string().nullable(),
      from: Oid.nullable(),
      position: z.number().int(),
      done: z.number().int(),
    })
    .nullable(),
});
