import type { z } from "zod";
import { isoOf } from "#core/instant.ts";

/**
 * Converts a record to its form in the API, with the fields of its schema in their order. Instants (`…At`) become ISO
 * texts; all other values are as stored. `own` has the fields that the record lacks or stores in another form. A field
 * that is the same in table and schema needs no entry.
 */
export function wireForm<S extends z.ZodObject, R extends object>(
  schema: S,
  record: R,
  own: Own<z.infer<S>, R>,
): z.infer<S> {
  const all: Readonly<Record<string, unknown>> = { ...record, ...own };
  const fields = Object.keys(schema.shape).map((name) => [name, onWire(name, all[name])]);
  // Each field comes from the record, in the form that `OnWire` defines, or from `own`.
  return Object.fromEntries(fields) as z.infer<S>;
}

/** The required fields of `own`: those that the record lacks, or has in another form. */
type Own<Wire, R> = {
  [
    Name in keyof Wire as Name extends keyof R ? (OnWire<R[Name], Name> extends Wire[Name] ? never : Name) : Name
  ]: Wire[Name];
} & Partial<Wire>;

type OnWire<Value, Name> = Name extends `${string}At` ? (Value extends number ? string : Value) : Value;

function onWire(name: string, value: unknown): unknown {
  return typeof value === "number" && name.endsWith("At") ? isoOf(value) : value;
}
