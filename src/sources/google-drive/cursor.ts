import { z } from "zod";

export const GoogleDriveCursor = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("listing"),
    runId: z.string().nullable(),
    /** Where the changes of each corpus begin that was listed, or is being listed. */
    tokens: z.record(z.string(), z.string()),
    /** Corpora that were listed, or could not be. */
    over: z.array(z.string()),
    /** The next page of the one that is being listed. */
    page: z.object({ key: z.string(), token: z.string() }).optional(),
    done: z.number(),
    notLookedAt: z.array(z.string()),
    isPartial: z.boolean(),
  }),
  z.object({ type: z.literal("changes"), tokens: z.record(z.string(), z.string()) }),
]);
export type GoogleDriveCursor = z.infer<typeof GoogleDriveCursor>;
