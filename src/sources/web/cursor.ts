import { z } from "zod";

/** Where a run stands. Another run starts at the beginning, since it must name everything itself. */
export interface WebCursor {
  runId: string | null;
  /** Pages of the queue that are done with, and the pieces that it is kept in. */
  at: number;
  chunks: number;
  done: number;
  by: "sitemap" | "links";
  /** What is stored is looked at one by one, since not everything that leads to it could be read; `added`: it is in the queue. */
  stored: "not" | "due" | "added";
  failuresInARow: number;
}

const StoredCursor = z.object({
  runId: z.string().nullable(),
  at: z.number().int(),
  chunks: z.number().int(),
  done: z.number().int(),
  by: z.enum(["sitemap", "links"]),
  stored: z.enum(["not", "due", "added"]),
  failuresInARow: z.number().int(),
});

/** An unreadable cursor is ignored: the run starts again, and nothing is lost. */
export function parseCursor(cursor: unknown): WebCursor | undefined {
  return StoredCursor.safeParse(cursor).data;
}
