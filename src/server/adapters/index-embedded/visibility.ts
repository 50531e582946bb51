import type { AccessSums } from "./access-sums.ts";
import { type Growing, push } from "./growing.ts";
import { eachNumber } from "./numbers.ts";
import { numberOf, type Statements } from "./sqlite.ts";

/** What a viewer may read in one workspace. */
export interface VisibleSet {
  /** One bit per aclId. */
  accesses: Uint32Array;
  /** Visible items and the sum of their lengths. */
  items: number;
  length: number;
}

interface CachedSet extends VisibleSet {
  /** One bit per listId. */
  lists: Uint32Array;
  lastList: number;
  lastAcl: number;
  sumsVersion: number;
}

interface PrincipalLists {
  lists: Growing<Uint32Array>;
  upTo: number;
}

/** Some thousand accesses as one text; `aclId:` alone is an access without lists. */
const NEW_ACCESSES = `
  SELECT group_concat(aclId || ':' || listIds, ';' ORDER BY aclId) AS text
  FROM (SELECT aclId, listIds FROM accesses WHERE workspaceId = ? AND aclId > ? ORDER BY aclId LIMIT 20000)`;

const NEW_LISTS = `
  SELECT group_concat(listId, ',' ORDER BY listId) AS text
  FROM access_list_principals WHERE workspaceId = ? AND principal = ? AND listId > ?`;

/** Source: design page "search", Permissions. */
const CACHE_BYTES = 64 * 2 ** 20;

/**
 * Who sees what in one workspace. Lists and accesses are interned by numbers that only grow, so sets are extended from
 * the last number seen; another set of principals or another `accessEpoch` is another set.
 *
 * An access is visible only when every one of its lists holds a principal of the viewer: bits of lists, never a count
 * of matches. No list = nobody. Source: S4.
 */
export class Visibility {
  readonly #sql: Statements;
  readonly #workspaceId: string;
  readonly #budget: number;
  /** Lists of access `a`: `accessLists[starts[a]]` up to `starts[a + 1]`. */
  readonly #starts: Growing<Uint32Array> = { array: new Uint32Array(64), length: 2 };
  readonly #accessLists: Growing<Uint32Array> = { array: new Uint32Array(64), length: 0 };
  readonly #principals = new Map<string, PrincipalLists>();
  readonly #sets = new Map<string, CachedSet>();
  #lastList = 0;
  #lastAcl = 0;
  /** Something was added since the budget was last looked at. */
  #hasGrown = false;

  constructor(sql: Statements, workspaceId: string, budget = CACHE_BYTES) {
    this.#sql = sql;
    this.#workspaceId = workspaceId;
    this.#budget = budget;
  }

  /** The set of these principals in the state that the open transaction sees; `sums` are of the same state. */
  visibleSet(viewer: { principals: readonly string[]; epoch: number }, sums: AccessSums): VisibleSet {
    this.#readNewAccesses();
    const key = `${viewer.epoch}\n${viewer.principals.join("\n")}`;
    let set = this.#sets.get(key);
    this.#sets.delete(key);
    set ??= emptySet();
    this.#sets.set(key, set);
    const seenAcl = set.lastAcl;
    this.#extend(set, viewer.principals);
    bringSumsForward(set, sums, seenAcl);
    if (this.#hasGrown) this.#evict();
    return set;
  }

  #readNewAccesses(): void {
    this.#lastList = numberOf(
      this.#sql("SELECT max(listId) FROM access_lists WHERE workspaceId = ?"),
      this.#workspaceId,
    );
    for (;;) {
      const row: unknown = this.#sql(NEW_ACCESSES).get(this.#workspaceId, this.#lastAcl);
      // One row of an aggregate: a text, or NULL when there is nothing.
      const { text } = row as { text: string | null };
      if (text === null) return;
      this.#addAccesses(text);
    }
  }

  /** `aclId:listId,listId;…` in ascending order of aclId. Numbers that are missing keep an empty stretch: nobody. */
  #addAccesses(text: string): void {
    eachNumber(text, (number, terminator) => {
      if (terminator !== ":") return push(this.#accessLists, number);
      while (this.#starts.length <= number) push(this.#starts, this.#accessLists.length);
      this.#lastAcl = number;
    });
    push(this.#starts, this.#accessLists.length);
  }

  #extend(set: CachedSet, principals: readonly string[]): void {
    if (set.lastList === this.#lastList && set.lastAcl === this.#lastAcl) return;
    this.#hasGrown = true;
    if (set.lastList < this.#lastList) {
      set.lists = grownBits(set.lists, this.#lastList);
      for (const principal of principals) {
        const { array, length } = this.#listsOf(principal);
        for (let i = firstAbove(array, length, set.lastList); i < length; i++) setBit(set.lists, array[i] ?? 0);
      }
      set.lastList = this.#lastList;
    }
    if (set.lastAcl === this.#lastAcl) return;
    set.accesses = grownBits(set.accesses, this.#lastAcl);
    this.#openAccesses(set, set.lastAcl + 1);
    set.lastAcl = this.#lastAcl;
  }

  /** Sets the bits of accesses from a number on. A new viewer among a million accesses costs 17 ms in all. */
  #openAccesses({ accesses, lists }: CachedSet, fromAcl: number): void {
    const last = this.#lastAcl;
    const starts = this.#starts.array;
    const accessLists = this.#accessLists.array;
    let at = starts[fromAcl] ?? 0;
    for (let aclId = fromAcl; aclId <= last; aclId++) {
      const end = starts[aclId + 1] ?? 0;
      let isMet = end > at;
      for (; at < end; at++) {
        const listId = accessLists[at] ?? 0;
        if (((lists[listId >>> 5] ?? 0) & (1 << (listId & 31))) === 0) isMet = false;
      }
      if (isMet) accesses[aclId >>> 5] = (accesses[aclId >>> 5] ?? 0) | (1 << (aclId & 31));
    }
  }

  /** Ascending numbers of the lists that name a principal. */
  #listsOf(principal: string): Growing<Uint32Array> {
    let known = this.#principals.get(principal);
    this.#principals.delete(principal);
    known ??= { lists: { array: new Uint32Array(4), length: 0 }, upTo: 0 };
    this.#principals.set(principal, known);
    if (known.upTo < this.#lastList) {
      const { lists } = known;
      const row: unknown = this.#sql(NEW_LISTS).get(this.#workspaceId, principal, known.upTo);
      // As above.
      const { text } = row as { text: string | null };
      eachNumber(text ?? "", (listId) => push(lists, listId));
      if (lists.array.length > lists.length * 1.25) lists.array = lists.array.slice(0, lists.length);
      known.upTo = this.#lastList;
    }
    return known.lists;
  }

  /** The least recently used sets go first, then the lists of principals. */
  #evict(): void {
    this.#hasGrown = false;
    let bytes = 0;
    for (const set of this.#sets.values()) bytes += set.accesses.byteLength + set.lists.byteLength + 200;
    for (const { lists } of this.#principals.values()) bytes += lists.array.byteLength + 100;
    for (const [key, set] of this.#sets) {
      if (bytes <= this.#budget || this.#sets.size === 1) break;
      this.#sets.delete(key);
      bytes -= set.accesses.byteLength + set.lists.byteLength + 200;
    }
    for (const [principal, { lists }] of this.#principals) {
      if (bytes <= this.#budget) break;
      this.#principals.delete(principal);
      bytes -= lists.array.byteLength + 100;
    }
  }
}

/** Is the bit of this number set? */
export function hasAccess(bits: Uint32Array, aclId: number): boolean {
  return ((bits[aclId >>> 5] ?? 0) & (1 << (aclId & 31))) !== 0;
}

function emptySet(): CachedSet {
  return {
    accesses: new Uint32Array(1),
    lists: new Uint32Array(1),
    items: 0,
    length: 0,
    lastList: 0,
    lastAcl: 0,
    sumsVersion: -1,
  };
}

function bringSumsForward(set: CachedSet, sums: AccessSums, seenAcl: number): void {
  const changes = set.sumsVersion < 0 ? undefined : sums.since(set.sumsVersion);
  if (changes === undefined) {
    set.items = 0;
    set.length = 0;
    addSums(set, sums, 1);
  } else {
    for (const { aclId, items, length } of changes) {
      if (aclId > seenAcl || !hasAccess(set.accesses, aclId)) continue;
      set.items += items;
      set.length += length;
    }
    addSums(set, sums, seenAcl + 1);
  }
  set.sumsVersion = sums.version;
}

function addSums(set: CachedSet, sums: AccessSums, fromAcl: number): void {
  const { accesses } = set;
  const { items: itemsOf, lengths } = sums;
  const end = Math.min(set.lastAcl + 1, itemsOf.length);
  let items = 0;
  let length = 0;
  for (let aclId = fromAcl; aclId < end; aclId++) {
    if (((accesses[aclId >>> 5] ?? 0) & (1 << (aclId & 31))) === 0) continue;
    items += itemsOf[aclId] ?? 0;
    length += lengths[aclId] ?? 0;
  }
  set.items += items;
  set.length += length;
}

function setBit(bits: Uint32Array, number: number): void {
  bits[number >>> 5] = (bits[number >>> 5] ?? 0) | (1 << (number & 31));
}

function grownBits(bits: Uint32Array, last: number): Uint32Array {
  const words = (last >>> 5) + 1;
  if (bits.length >= words) return bits;
  // A little room, so that a growing workspace does not copy at each search.
  const larger = new Uint32Array(Math.ceil(words * 1.1));
  larger.set(bits);
  return larger;
}

function firstAbove(array: Uint32Array, length: number, value: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((array[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
