import type { Interner } from "./intern.ts";

/** Limit of lists in one access; an access with more is open to no one. A pushed line has at most 17. */
const MAX_LISTS = 64;

/**
 * Makes the function that returns the number of the access that admits only people admitted by both accesses: the lists
 * of both, each once. An access is an AND of lists, so nothing else is needed, and equal conjunctions have equal
 * numbers in any order. If either access is open to no one, so is the result.
 */
export function makeConjoin(interner: Interner): (a: number, b: number) => number {
  const known = new Map<string, number>();

  function conjoined(a: number, b: number): number {
    const [first, second] = [interner.listIdsOf(a), interner.listIdsOf(b)];
    // An access without lists can't exist. If one did, it would have to be open to no one.
    if (first.length === 0 || second.length === 0) return 0;
    const lists = [...new Set([...first, ...second])];
    return lists.length > MAX_LISTS ? 0 : interner.ofLists(lists);
  }

  return (a, b) => {
    if (a <= 0 || b <= 0) return 0;
    if (a === b) return a;
    const key = a < b ? `${a},${b}` : `${b},${a}`;
    const found = known.get(key) ?? conjoined(a, b);
    known.set(key, found);
    return found;
  };
}
