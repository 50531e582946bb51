import type { Principal } from "#core/principals.ts";

const PRINCIPALS = ["user:a", "user:b", "user:c"];

/** Every list over three principals, the empty one included; every set of principals that somebody may hold. */
export const SETS: readonly Principal[][] = Array.from({ length: 8 }, (_, bits) =>
  PRINCIPALS.filter((_principal, i) => bits & (1 << i)),
);

/** Every access of at most three lists: 1 + 8 + 64 + 512. */
export const ACCESSES: readonly Principal[][][] = [
  [],
  ...SETS.map((a) => [a]),
  ...SETS.flatMap((a) => SETS.map((b) => [a, b])),
  ...SETS.flatMap((a) => SETS.flatMap((b) => SETS.map((c) => [a, b, c]))),
];

/** The rule itself, written another way: somewhere a list that none of the held principals is in closes the access. */
export function isOpenByTheBook(lists: readonly (readonly Principal[])[], held: readonly Principal[]): boolean {
  if (lists.length === 0) return false;
  for (const list of lists) if (held.filter((principal) => list.includes(principal)).length === 0) return false;
  return true;
}
