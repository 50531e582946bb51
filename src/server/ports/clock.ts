/** Time and chance as arguments, so that tests can hold both. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export type RandomBytes = (count: number) => Uint8Array;

/** Structured log lines; values are redacted by the logger's own list. */
export interface Log {
  debug(fields: Record<string, unknown>, message: string): void;
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}
