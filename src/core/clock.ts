/** Time and chance as arguments, so that tests can hold both. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export type RandomBytes = (count: number) => Uint8Array;
