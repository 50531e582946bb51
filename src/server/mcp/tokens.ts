import { createRequire } from "node:module";
import type * as O200k from "gpt-tokenizer/encoding/o200k_base";

/** How many o200k tokens a text has, at most: long runs are counted in pieces and never below their true count. */
export type CountTokens = (text: string) => number;

/**
 * Counts by a tokenizer that the first text loads (25 MB and about 200 ms): ask only where the bytes of a text don't say enough.
 * Source: docs/decisions/0041.
 */
export const countTokens: CountTokens = (text) => {
  loaded ??= loadCounter();
  return loaded(text);
};

let loaded: CountTokens | undefined;

function loadCounter(): CountTokens {
  // The types of the package say what the path gives.
  const tokenizer = createRequire(import.meta.url)("gpt-tokenizer/encoding/o200k_base") as typeof O200k;
  // Without this option a document that holds `<|endoftext|>` would throw.
  return makeTokenCounter((text) => tokenizer.countTokens(text, { disallowedSpecial: new Set() }));
}

/** From this length on a run without a break costs its length squared: 80,000 letters took 50 seconds (measured). */
const LONG_RUN = 96;
const PIECE = 48;

/** Makes a counter that takes time in proportion to the text, from one that does not. */
export function makeTokenCounter(count: CountTokens): CountTokens {
  return (text) => {
    let total = 0;
    let from = 0;
    for (const run of text.matchAll(/\S{97,}|\s{97,}/g)) {
      if (run[0].length <= LONG_RUN) continue;
      total += count(text.slice(from, run.index)) + countPieces(run[0], count);
      from = run.index + run[0].length;
    }
    return total + count(text.slice(from));
  };
}

/** A cut can only keep a merge from happening; one token more for each makes up for what merging order might do. */
function countPieces(run: string, count: CountTokens): number {
  let total = 1;
  for (let at = 0; at < run.length; at += PIECE) total += count(run.slice(at, at + PIECE)) + 1;
  return total;
}
