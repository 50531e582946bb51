import { z } from "zod";
import { placeSchema } from "#sources/containers.ts";

const tokens = z.record(z.string(), z.string());

/** Where the changes of each corpus begin that was read as a whole. */
export const Cursor = z.object({ type: z.literal("changes"), tokens });
export type Cursor = z.infer<typeof Cursor>;

/** What a run has come to. `isPartial`: Google has not looked everywhere. */
const Begun = z.object({ tokens, isPartial: z.boolean() });
export type Begun = z.infer<typeof Begun>;

/** The next page of the corpus that is being listed, and where its changes begin. */
const At = z.object({ start: z.string(), page: z.string() });
export type At = z.infer<typeof At>;

export const Checkpoint = placeSchema(At, Begun);
export type Checkpoint = z.infer<typeof Checkpoint>;
