/**
 * Schemas for optional fields of a provider's records. A value of an unexpected type is treated as absent, and the
 * record stays valid. Never use them for a list of things, for the marker of a listing's end, or for a field that
 * decides who may read.
 */
import { z } from "zod";

export function maybe<T extends z.ZodType>(schema: T) {
  return schema.optional().catch(undefined);
}

export const text = maybe(z.string());
export const flag = maybe(z.boolean());
/** A number such as a size. */
export const count = maybe(z.number().int().nonnegative());
export const mimeType = maybe(z.string().max(200));
