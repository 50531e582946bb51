/** Time and randomness, which are passed as arguments so that tests can control both. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export type RandomBytes = (count: number) => Uint8Array;

/** Waits this many milliseconds. Returns early, without throwing, when the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;
