/** Documents of a segment at most. */
const SIZE = 65_536;

/**
 * Scratch arrays of an evaluation, made once per reader: 2 MB. Everything in them is left as it was found: zeros in
 * `seen`, `required` and `places`.
 */
export interface Scratch {
  /** Candidates, and for each its score, whether it has all words, and the weight of the first list. */
  ids: Uint16Array;
  scores: Float64Array;
  hasAll: Uint8Array;
  weights: Uint8Array;
  /** Where a candidate stands in the list looked at last. */
  spots: Uint16Array;
  /** By local id: words found, required terms found, place among the candidates (plus one). */
  seen: Uint8Array;
  required: Uint8Array;
  places: Uint32Array;
  /** Candidates that are worth a score, and whether they have all words. */
  chosen: Uint16Array;
  chosenAll: Uint8Array;
}

export function makeScratch(): Scratch {
  return {
    ids: new Uint16Array(SIZE),
    scores: new Float64Array(SIZE),
    hasAll: new Uint8Array(SIZE),
    weights: new Uint8Array(SIZE),
    spots: new Uint16Array(SIZE),
    seen: new Uint8Array(SIZE),
    required: new Uint8Array(SIZE),
    places: new Uint32Array(SIZE),
    chosen: new Uint16Array(SIZE),
    chosenAll: new Uint8Array(SIZE),
  };
}

/** After an evaluation that was given up. */
export function clearScratch(scratch: Scratch): void {
  scratch.seen.fill(0);
  scratch.required.fill(0);
  scratch.places.fill(0);
}
