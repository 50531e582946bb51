/** What became of a request that may be sent again. */
export interface IdempotencyRecord {
  bodyHash: string;
  /** Null while the first request runs, or for ever when the server died over it. */
  status: number | null;
  /** The JSON of the answer; null for one that held a secret. */
  answer: string | null;
  /** Id of what was made. */
  targetId: string | null;
}

/** Answers of creates, by a hash of everything that tells one request from another. Source: S14. */
export interface IdempotencyStore {
  /**
   * Claims a key for a first request: gives nothing, or the record that is there already. A record that is over at
   * `now` is none.
   */
  begin(claim: {
    keyHash: string;
    bodyHash: string;
    now: Date;
    expiresAt: Date;
  }): Promise<IdempotencyRecord | undefined>;
  finish(keyHash: string, outcome: { status: number; answer: string | null; targetId: string | null }): Promise<void>;
  /** Gives the key back: nothing was made. */
  drop(keyHash: string): Promise<void>;
  /** Deletes what is over; at most `limit`. @returns how many */
  sweep(now: Date, limit: number): Promise<number>;
}
