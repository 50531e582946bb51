import { O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants";
import { NO_TOKEN, type TokenTable } from "./token-table.ts";

/**
 * Makes a counter of the tokens that o200k makes of a text. Markers such as `<|endoftext|>` are text. A word of n bytes takes
 * time in proportion to n squared, unless it is a token.
 */
export function makeWordCounter(table: TokenTable): (text: string) => number {
  const encoder = new TextEncoder();
  const countMerged = makeMerger(table);
  // Every character belongs to a word: one begins where the last one ends. The package's own object has a place of its own.
  const word = new RegExp(O200K_TOKEN_SPLIT_REGEX);
  let bytes = new Uint8Array(1_024);

  /** Puts a part of the text at the start of `bytes`; gives its length there. */
  const write = (text: string, from: number, to: number): number => {
    if ((to - from) * 3 > bytes.length) bytes = new Uint8Array((to - from) * 6);
    for (let at = from; at < to; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= 0x80) return encoder.encodeInto(text.slice(from, to), bytes).written;
      bytes[at - from] = unit;
    }
    return to - from;
  };

  return (text) => {
    let count = 0;
    word.lastIndex = 0;
    for (let at = 0; word.test(text); at = word.lastIndex) {
      const length = write(text, at, word.lastIndex);
      count += table.rankOf(bytes, 0, length) === NO_TOKEN ? countMerged(bytes, length) : 1;
    }
    return count;
  };
}

/** Counts what is left of a word when its parts are merged; it keeps its arrays from word to word. */
function makeMerger({ rankOf }: TokenTable): (bytes: Uint8Array, length: number) => number {
  // Where each part starts, the end after the last; and the number of the token that a part makes with the next one.
  let starts = new Uint32Array(128);
  let ranks = new Uint32Array(128);

  /** Merges the two neighbours that make the token with the lowest number, until no two make one. */
  return (bytes, length) => {
    if (length >= starts.length) [starts, ranks] = [new Uint32Array(length * 2), new Uint32Array(length * 2)];
    let parts = length;
    const rankAt = (n: number): number =>
      n + 2 > parts ? NO_TOKEN : rankOf(bytes, starts[n] ?? 0, starts[n + 2] ?? length);
    for (let n = 0; n <= length; n++) starts[n] = n;
    for (let n = 0; n < length; n++) ranks[n] = rankAt(n);
    for (;;) {
      let [best, lowest] = [0, NO_TOKEN];
      for (let n = 0; n < parts; n++) {
        const rank = ranks[n] ?? NO_TOKEN;
        if (rank < lowest) [best, lowest] = [n, rank];
      }
      if (lowest === NO_TOKEN) return parts;
      starts.copyWithin(best + 1, best + 2, parts + 1);
      ranks.copyWithin(best + 1, best + 2, parts);
      parts--;
      ranks[best] = rankAt(best);
      if (best > 0) ranks[best - 1] = rankAt(best - 1);
    }
  };
}
