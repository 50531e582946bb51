import type { AccessSums } from "./access-sums.ts";
import { type Growing, push } from "./growing.ts";
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
    const rows = this.#sql("SELECT aclId, listIds FROM accesses WHERE workspaceId = ? AND aclId > ? ORDER BY aclId");
    for (const { aclId, listIds } of rows.iterate(this.#workspaceId, this.#lastAcl)) {
      // Numbers that were never stored or are gone keep an empty stretch: nobody.
      while (this.#starts.length <= aclId) push(this.#starts, this.#accessLists.length);
      for (const listId of parseNumbers(listIds)) push(this.#accessLists, listId);
      push(this.#starts, this.#accessLists.length);
      this.#lastAcl = aclId;
    }
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
    for (let aclId = set.lastAcl + 1; aclId <= this.#lastAcl; aclId++) {
      if (this.#isMet(aclId, set.lists)) setBit(set.accesses, aclId);
    }
    set.lastAcl = this.#lastAcl;
  }

  #isMet(aclId: number, lists: Uint32Array): boolean {
    const start = this.#starts.array[aclId] ?? 0;
    const end = this.#starts.array[aclId + 1] ?? 0;
    for (let at = start; at < end; at++) if (!hasAccess(lists, this.#accessLists.array[at] ?? 0)) return false;
    return end > start;
  }

  /** Ascending numbers of the lists that name a principal. */
  #listsOf(principal: string): Growing<Uint32Array> {
    let known = this.#principals.get(principal);
    this.#principals.delete(principal);
    known ??= { lists: { array: new Uint32Array(4), length: 0 }, upTo: 0 };
    this.#principals.set(principal, known);
    if (known.upTo < this.#lastList) {
      const rows = this.#sql(
        "SELECT listId FROM access_list_principals WHERE workspaceId = ? AND principal = ? AND listId > ? ORDER BY listId",
      );
      for (const { listId } of rows.iterate(this.#workspaceId, principal, known.upTo)) push(known.lists, listId);
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
  const end = Math.min(set.lastAcl + 1, sums.items.length);
  for (let aclId = fromAcl; aclId < end; aclId++) {
    if (!hasAccess(set.accesses, aclId)) continue;
    set.items += sums.items[aclId] ?? 0;
    set.length += sums.lengths[aclId] ?? 0;
  }
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

function parseNumbers(text: string): number[] {
  return text === "" ? [] : text.split(",").map(Number);
}
