import type { Principal } from "#core/principals.ts";

/**
 * The one decision: is an access open? When it has lists and every one of them is met; an access without lists is
 * nobody's (`every` on nothing would be true, S4).
 *
 * Every check in memory asks here, however it keeps its lists: as names, as numbers, or as a range of an array of
 * numbers. What a list is and when it is met is up to `isMet`: see `meets` and, in SQL, `listsMet`.
 */
export function isOpen<List>(
  lists: ArrayLike<List>,
  isMet: (list: List) => boolean,
  from = 0,
  until = lists.length,
): boolean {
  for (let i = from; i < until; i++) {
    // Callers give a range inside the array, which has no holes.
    if (!isMet(lists[i] as List)) return false;
  }
  return until > from;
}

/** Is one OR list met: does somebody who holds these principals hold one of its own? */
export function meets(list: readonly Principal[], held: ReadonlySet<Principal>): boolean {
  return metBy(list, held) !== undefined;
}

/** The first principal of a list that meets it; undefined when none does. */
export function metBy(list: readonly Principal[], held: ReadonlySet<Principal>): Principal | undefined {
  return list.find((principal) => held.has(principal));
}

/** The decision on names: is an access of these lists open to somebody who holds these principals? */
export function meetsEvery(lists: readonly (readonly Principal[])[], held: ReadonlySet<Principal>): boolean {
  return isOpen(lists, (list) => meets(list, held));
}
