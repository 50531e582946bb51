import { type BitScratch, clearBits, makeBitScratch } from "./selection.ts";

/** Documents of a segment at most. */
const SIZE = 65_536;

/** Scratch arrays of an evaluation, made once per reader: 1 MB. */
export interface Scratch {
  /** Candidates, and for each its score, its terms found so far and whether it has all words. */
  ids: Uint16Array;
  scores: Float64Array;
  found: Uint8Array;
  hasAll: Uint8Array;
  /** All that matches, scored or not. */
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

/** After an evaluation that was given up. */
export function clearScratch({ bits }: Scratch): void {
  clearBits(bits);
}
