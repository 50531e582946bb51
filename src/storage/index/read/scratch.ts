import { type BitScratch, clearBits, makeBitScratch } from "./selection.ts";

/** Limit of documents in a segment. */
const SIZE = 65_536;

/** Scratch arrays of evaluations, allocated once per reader: 1 MB. */
export interface Scratch {
  /** The candidates with their scores, the number of terms found so far, and whether they have all words. */
  ids: Uint16Array;
  scores: Float64Array;
  found: Uint8Array;
  hasAll: Uint8Array;
  /** All matches, scored or not. */
  matches: Uint16Array;
  bits: BitScratch;
}

export function makeScratch(): Scratch {
  return {
    ids: new Uint16Array(SIZE),
    scores: new Float64Array(SIZE),
    found: new Uint8Array(SIZE),
    hasAll: new Uint8Array(SIZE),
    matches: new Uint16Array(SIZE),
    bits: makeBitScratch(),
  };
}

/** Clears the bits after an evaluation was aborted. */
export function clearScratch({ bits }: Scratch): void {
  clearBits(bits);
}
