import type { Principal } from "#core/principals.ts";

/**
 * The one decision: does somebody who holds these principals meet every list of an access?
 * No list, or any empty list, is nobody: `every` on nothing would be true (S4).
 */
export function meetsEvery(lists: readonly (readonly Principal[])[], held: ReadonlySet<Principal>): boolean {
  return lists.length > 0 && lists.every((list) => meets(list, held));
}

/** One OR list: at least one of its principals is held. */
export function meets(list: readonly Principal[], held: ReadonlySet<Principal>): boolean {
  return list.some((principal) => held.has(principal));
}
