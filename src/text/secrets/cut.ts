/** A piece of a text and its replacement by masking. Offsets are in UTF-16 code units of the original text. */
export interface Cut {
  start: number;
  end: number;
  mask: string;
}

/** Returns the position of an original offset after masking; an offset inside a secret becomes the start of its mask. */
export function maskedOffset(cuts: readonly Cut[], offset: number): number {
  let shift = 0;
  for (const { start, end, mask } of cuts) {
    if (offset <= start) break;
    if (offset < end) return start + shift;
    shift += mask.length - (end - start);
  }
  return offset + shift;
}
