import { numberOf, type Statements } from "./sqlite.ts";

/** Reserves `count` numbers that were never used before and returns the first one. */
export function takeNumbers(sql: Statements, name: "segment" | "term", count: number): number {
  const first = numberOf(sql("SELECT value FROM index_counters WHERE name = ?"), name) + 1;
  sql("INSERT OR REPLACE INTO index_counters (name, value) VALUES (?, ?)").run(name, first + count - 1);
  return first;
}

/** How many numbers are reserved in the file at once. Unused ones are lost, which costs nothing. */
const TERM_BLOCK = 4096;

/**
 * Assigns numbers to the terms of a workspace. An assigner lives for one write, because its numbers are reserved only
 * if the transactions in which it worked are committed.
 */
export function makeTermNumbers(sql: Statements, no: number): (term: string) => number {
  let next = 0;
  let last = -1;
  return (term) => {
    const known = numberOf(sql("SELECT termId FROM index_terms WHERE no = ? AND term = ?"), no, term);
    if (known > 0) return known;
    if (next > last) {
      next = takeNumbers(sql, "term", TERM_BLOCK);
      last = next + TERM_BLOCK - 1;
    }
    sql("INSERT INTO index_terms (no, term, termId) VALUES (?, ?, ?)").run(no, term, next);
    return next++;
  };
}
