import { asRecord } from "#core/json-record.ts";

/** An object of parsed JSON. */
export type Json = Record<string, unknown>;

/** The value if it is an object, else one without properties. */
export function membersOf(value: unknown): Json {
  return asRecord(value) ?? {};
}
