/** Whether a value is an object with members by name: neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as a record; undefined for anything else. */
export function asRecord(value: unknown): Record<string, unknown> | undefined {
  return isRecord(value) ? value : undefined;
}

/** The value that a text of JSON holds; undefined for any other text. */
export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No JSON text holds undefined.
    return undefined;
  }
}
