import type { Principal } from "#core/principals.ts";

/**
 * The only decision on whether an access is open: it has lists, and every list is met. An access without lists is open
 * to no one (`every` on an empty array would return true, S4).
 *
 * Every check in memory calls this, whether it keeps lists as names, as numbers, or as a range of an array of numbers.
 * `isMet` defines what a list is and when it is met; see `meets` and, in SQL, `listsMet`.
 */
export function isOpen<List>(
  lists: ArrayLike<List>,
  isMet: (list: List) => boolean,
  from = 0,
  until = lists.length,
): boolean {
  for (let i = from; i < until; i++) {
    // Callers pass a range inside the array, and the array has no holes.
    if (!isMet(lists[i] as List)) return false;
  }
  return until > from;
}

/** Whether an OR list is met: the person holds at least one of its principals. */
export function meets(list: readonly Principal[], held: ReadonlySet<Principal>): boolean {
  return metBy(list, held) !== undefined;
}

/** Returns the first principal of a list that the person holds; undefined when there is none. */
export function metBy(list: readonly Principal[], held: ReadonlySet<Principal>): Principal | undefined {
  return list.find((principal) => held.has(principal));
}

/** Decides on names: whether an access with these lists is open to a person who holds these principals. */
export function meetsEvery(lists: readonly (readonly Principal[])[], held: ReadonlySet<Principal>): boolean {
  return isOpen(lists, (list) => meets(list, held));
}
