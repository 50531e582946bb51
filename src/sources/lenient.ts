/**
 * Fields of a provider's records that tell something about a thing: one of another type is absent, and the thing is
 * still that thing. Never for a list of things, the mark of an end, or what decides who may read.
 */
import { z } from "zod";

export function maybe<T extends z.ZodType>(schema: T) {
  return schema.optional().catch(undefined);
}

export const text = maybe(z.string());
export const flag = maybe(z.boolean());
/** Such as a size. */
export const count = maybe(z.number().int().nonnegative());
export const mimeType = maybe(z.string().max(200));
