/** Where a sealed text stands: it opens there and nowhere else. */
export interface SealedPlace {
  table: string;
  /** The row's whole key, workspace first. */
  row: readonly string[];
  column: string;
}

/**
 * Keeps secrets that must be had back. Each purpose has a key of its own, so that what was sealed for one never opens
 * for another.
 */
export interface Vault {
  /** An envelope that only this vault opens, at this place. */
  seal(place: SealedPlace, plaintext: string): string;
  /** @throws ApiError `secret_unreadable` when it was changed, moved, or sealed with a key that is not here */
  open(place: SealedPlace, envelope: string): string;
  /** True when the envelope was not sealed with the newest key: seal it again when there is time. */
  isOutdated(envelope: string): boolean;
}
