import { timeOf } from "#sources/times.ts";
import { z } from "zod";

/** An id as text, from a number or a text. */
export const Id = z.union([z.string().regex(/^\d{1,19}$/), z.number().int().nonnegative().transform(String)]);

/** Epoch milliseconds. Atlassian writes `2024-03-05T10:00:00.000+0000`. */
export const Instant = z
  .string()
  .nullish()
  .catch(undefined)
  .transform((written) => timeOf(written?.replace(/([+-]\d\d)(\d\d)$/, "$1:$2")));
