/** Whether a value is an object with named members: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value as a record; undefined for anything else. */
export function asRecord(value: unknown): Record<string, unknown> | undefined {
  return isRecord(value) ? value : undefined;
}

/** Parses a JSON text; undefined if the text isn't JSON. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not ambiguous: no JSON text has the value undefined.
    return undefined;
  }
}
