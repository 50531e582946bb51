import type { z } from "zod";
import { isoOf } from "#core/instant.ts";

/**
 * The form of a record on the wire, with the fields of its schema in their order: instants (`…At`) as ISO texts, all
 * else as stored. `own` holds what the record has otherwise or not at all. A field that both the table and the schema
 * have needs nothing here.
 */
export function wireForm<S extends z.ZodObject, R extends object>(
  schema: S,
  record: R,
  own: Own<z.infer<S>, R>,
): z.infer<S> {
  const all: Readonly<Record<string, unknown>> = { ...record, ...own };
  const fields = Object.keys(schema.shape).map((name) => [name, onWire(name, all[name])]);
  // Each field is the record's in the form that `OnWire` says, or `own`.
  return Object.fromEntries(fields) as z.infer<S>;
}

/** The required fields: those that the record lacks, or has in another form. */
type Own<Wire, R> = {
  [
    Name in keyof Wire as Name extends keyof R ? (OnWire<R[Name], Name> extends Wire[Name] ? never : Name) : Name
  ]: Wire[Name];
} & Partial<Wire>;

type OnWire<Value, Name> = Name extends `${string}At` ? (Value extends number ? string : Value) : Value;

function onWire(name: string, value: unknown): unknown {
  return typeof value === "number" && name.endsWith("At") ? isoOf(value) : value;
}
