/** An object of parsed JSON. */
export type Json = Record<string, unknown>;

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else one without properties. */
export function asRecord(value: unknown): Json {
  return isRecord(value) ? value : {};
}
