import { asRecord } from "#core/json-record.ts";

/** An object of parsed JSON. */
export type Json = Record<string, unknown>;

/** Returns the value if it is an object, otherwise an object without properties. */
export function membersOf(value: unknown): Json {
  return asRecord(value) ?? {};
}
