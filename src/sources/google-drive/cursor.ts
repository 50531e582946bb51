import { z } from "zod";
import { placeSchema } from "#sources/containers.ts";

const tokens = z.record(z.string(), z.string());

/** The tokens at which the changes begin, for each corpus that was read in full. */
export const Cursor = z.object({ type: z.literal("changes"), tokens });
export type Cursor = z.infer<typeof Cursor>;

/** Progress of a run. `isPartial` = Google did not search everywhere. */
const Begun = z.object({ tokens, isPartial: z.boolean() });
export type Begun = z.infer<typeof Begun>;

/** The next page of the current corpus, and the token at which its changes begin. */
const At = z.object({ start: z.string(), page: z.string() });
export type At = z.infer<typeof At>;

export const Checkpoint = placeSchema(At, Begun);
export type Checkpoint = z.infer<typeof Checkpoint>;
