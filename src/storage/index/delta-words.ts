import { eachNumber } from "./numbers.ts";
import { lowOf, packKey } from "./schema.ts";
import type { Statements } from "./sqlite.ts";

/** The words of a changed document. */
export interface DeltaWords {
  /** The terms as UTF-8, ascending, one per line. */
  terms: Uint8Array;
  /** One weight per term. */
  weights: Uint8Array;
}

/**
 * Calls `visit` with the words of each existing delta row that has one of these numbers. Numbers are ascending, and
 * `visit` is called in that order.
 */
export type ReadWords = (seqs: readonly number[], visit: (seq: number, words: DeltaWords) => void) => void;

/** For a JSON array of row keys, selects which rows exist, how many terms and bytes each has, and their words. */
const WORDS = `SELECT group_concat(index_delta.id || ':' || octet_length(terms) || ',' || length(weights), ';') AS sizes,
  CAST(group_concat(terms, '') AS BLOB) AS terms,
  CAST(group_concat(weights, '') AS BLOB) AS weights
  FROM json_each(?) AS wanted CROSS JOIN index_delta ON index_delta.id = wanted.value AND document IS NOT NULL`;

/** Reads words of a workspace as the open transaction sees them or, without a transaction, in the newest state. */
export function makeReadWords(sql: Statements, no: number): ReadWords {
  return (seqs, visit) => {
    const keys = seqs.map((seq) => packKey(no, seq));
    // The statement returns one row of aggregates, which are NULL when there are no rows.
    const { sizes, terms, weights } = sql(WORDS).get(JSON.stringify(keys)) as {
      sizes: string | null;
      terms: Uint8Array | null;
      weights: Uint8Array | null;
    };
    let seq = 0;
    let termBytes = 0;
    let termAt = 0;
    let weightAt = 0;
    eachNumber(sizes ?? "", (number, terminator) => {
      if (terminator === ":") seq = lowOf(number);
      else if (terminator === ",") termBytes = number;
      else {
        visit(seq, {
          terms: terms?.subarray(termAt, termAt + termBytes) ?? NOTHING,
          weights: weights?.subarray(weightAt, weightAt + number) ?? NOTHING,
        });
        termAt += termBytes;
        weightAt += number;
      }
    });
  };
}

const NOTHING = new Uint8Array(0);
