import { LRUCache } from "lru-cache";
import { listsMet } from "#storage/access/decision-sql.ts";
import { AccessTable } from "./access-table.ts";
import { type Growing, growing, push } from "#storage/index/growing.ts";
import { parseNumbers } from "#storage/index/numbers.ts";
import type { SegmentView } from "#storage/index/segment-view.ts";
import { blobOf, type Statements } from "#storage/index/sqlite.ts";
import { addDocuments, followSegment, makeSegmentVisibility, type SegmentVisibility } from "./segment-visibility.ts";

/** The items that a viewer can read in one workspace. */
export interface VisibleSet {
  /** One bit per document of each segment, in the order of the segments. */
  documents: readonly Uint32Array[];
  /** The number of visible items and the sum of their lengths. */
  items: number;
  length: number;
}

interface CachedSet {
  principals: ReadonlySet<string>;
  /** The lists that the viewer meets: one bit per listId. */
  lists: Uint32Array;
  lastList: number;
  visibilities: Map<SegmentView, SegmentVisibility>;
}

interface PrincipalLists {
  lists: Growing<Uint32Array>;
  upTo: number;
}

/** Lists are read in the order of the key, which for new lists is ascending. An ORDER BY would take a third longer. */
const NEW_LISTS = `SELECT CAST(group_concat(listId) AS BLOB) AS text FROM (${listsMet(1)})`;

/** Limit in bytes of the visible sets that are kept for a workspace. */
const CACHE_BYTES = 64 * 2 ** 20;
/** In one pass over all accesses, opening one takes this many times less than a look-up. */
const OPEN_RATIO = 8;
/**
 * The share of the budget for the lists of principals, from which new sets are made. It is in addition to the budget.
 */
const PRINCIPAL_SHARE = 0.25;

/**
 * The visible items of one workspace. Lists and accesses are interned by numbers that only grow, and a set depends only
 * on the viewer's principals and the state of the open transaction. Sets are cached by principals and updated with what
 * is new (lists, accesses, documents, changed accesses of documents).
 *
 * A document is visible when its access is open, which `storage/access/decision.ts` decides on bits of lists, never by
 * a count of matches.
 */
export class Visibility {
  readonly #sql: Statements;
  readonly #workspaceId: string;
  readonly #table: AccessTable;
  readonly #principals: LRUCache<string, PrincipalLists>;
  readonly #sets: LRUCache<string, CachedSet>;

  constructor(sql: Statements, workspaceId: string, no: number, budget = CACHE_BYTES) {
    this.#sql = sql;
    this.#workspaceId = workspaceId;
    this.#principals = new LRUCache({
      maxSize: Math.ceil(budget * PRINCIPAL_SHARE),
      sizeCalculation: ({ lists }) => lists.array.byteLength + 100,
    });
    this.#sets = new LRUCache({ maxSize: budget, sizeCalculation: bytesOf });
    this.#table = new AccessTable(sql, workspaceId, no);
  }

  /** Returns the set for these principals as the open transaction sees it; `segments` must be of the same state. */
  visibleSet(viewer: { principals: readonly string[] }, segments: readonly SegmentView[]): VisibleSet {
    this.#table.refresh();
    const key = viewer.principals.join("\n");
    const known = this.#sets.get(key);
    const part = known === undefined ? this.#findPart(viewer.principals) : undefined;
    const set = known ?? this.#makeSet(viewer.principals, part);
    const hasLists = this.#extendLists(set);
    const hasSegments = this.#followSegments(set, segments, part);
    if (known === undefined || hasLists || hasSegments) keep(this.#sets, key, set);
    return sumUp(segments.flatMap((segment) => set.visibilities.get(segment) ?? []));
  }

  /** Finds the set of a person who is in most of these groups and in no other group. */
  #findPart(principals: readonly string[]): CachedSet | undefined {
    const wanted = new Set(principals);
    let part: CachedSet | undefined;
    for (const set of this.#sets.values()) {
      if (set.principals.size <= (part?.principals.size ?? 0) || set.principals.size > wanted.size) continue;
      if ([...set.principals].every((principal) => wanted.has(principal))) part = set;
    }
    return part;
  }

  /**
   * Makes an empty set, or one that starts with the lists of `part`: a person who joins a group gets only the lists of
   * that group in addition.
   */
  #makeSet(principals: readonly string[], part: CachedSet | undefined): CachedSet {
    const wanted = new Set(principals);
    const made: CachedSet = { principals: wanted, lists: new Uint32Array(1), lastList: 0, visibilities: new Map() };
    if (part === undefined) return made;
    made.lists = grownBits(part.lists.slice(), this.#table.lastList);
    made.lastList = part.lastList;
    for (const principal of wanted) if (!part.principals.has(principal)) this.#openLists(made.lists, principal, 0);
    return made;
  }

  /** Adds new lists. Returns true when there were any. */
  #extendLists(set: CachedSet): boolean {
    const { lastList } = this.#table;
    if (set.lastList === lastList) return false;
    set.lists = grownBits(set.lists, lastList);
    for (const principal of set.principals) this.#openLists(set.lists, principal, set.lastList);
    set.lastList = lastList;
    return true;
  }

  #openLists(bits: Uint32Array, principal: string, after: number): void {
    const { array, length } = this.#listsOf(principal);
    for (let i = firstAbove(array, length, after); i < length; i++) {
      const listId = array[i] ?? 0;
      bits[listId >>> 5] = (bits[listId >>> 5] ?? 0) | (1 << (listId & 31));
    }
  }

  /** Returns the ascending numbers of the lists that name a principal. */
  #listsOf(principal: string): Growing<Uint32Array> {
    const known = this.#principals.get(principal) ?? { lists: growing(new Uint32Array(4)), upTo: 0 };
    if (known.upTo < this.#table.lastList) {
      const text = blobOf(this.#sql(NEW_LISTS), this.#workspaceId, principal, known.upTo);
      const found = parseNumbers(text ?? new Uint8Array(0));
      if (!isAscending(found)) found.sort();
      // Later lists arrive few at a time: copying the array for each would cost more than the spare capacity.
      if (known.upTo === 0) known.lists = { array: found, length: found.length };
      else for (const listId of found) push(known.lists, listId);
      known.upTo = this.#table.lastList;
      keep(this.#principals, principal, known);
    }
    return known.lists;
  }

  /** Brings the set up to the segments' state. Returns true when anything was new. */
  #followSegments(set: CachedSet, segments: readonly SegmentView[], part: CachedSet | undefined): boolean {
    const table = this.#table;
    const visibilities = new Map<SegmentView, SegmentVisibility>();
    const fresh: { segment: SegmentView; visibility: SegmentVisibility }[] = [];
    for (const segment of segments) {
      let visibility = set.visibilities.get(segment);
      if (visibility === undefined || !followSegment(visibility, segment, table, set.lists)) {
        visibility = makeSegmentVisibility(segment);
        fresh.push({ segment, visibility });
      }
      visibilities.set(segment, visibility);
    }
    set.visibilities = visibilities;
    if (fresh.length === 0) return false;
    const docs = fresh.reduce((sum, { segment }) => sum + segment.columns.docs, 0);
    // A few documents are looked up one by one; for many, opening all accesses once takes less time.
    const accesses = docs > table.lastAcl / OPEN_RATIO ? table.openTo(set.lists) : undefined;
    for (const { segment, visibility } of fresh) {
      const opened = accesses && { accesses, part: part?.visibilities.get(segment) };
      addDocuments(visibility, segment, table, set.lists, opened);
    }
    return true;
  }
}

/** Replaces a value. The cache doesn't update the size of a value that is set again, so the value is deleted first. */
function keep<V extends object>(cache: LRUCache<string, V>, key: string, value: V): void {
  cache.delete(key);
  cache.set(key, value);
}

function sumUp(visibilities: readonly SegmentVisibility[]): VisibleSet {
  let items = 0;
  let length = 0;
  for (const visibility of visibilities) {
    items += visibility.items;
    length += visibility.length;
  }
  return { documents: visibilities.map(({ bits }) => bits), items, length };
}

function bytesOf({ lists, visibilities, principals }: CachedSet): number {
  let bytes = lists.byteLength + 200 + principals.size * 50;
  for (const { bits } of visibilities.values()) bytes += bits.byteLength + 200;
  return bytes;
}

function grownBits(bits: Uint32Array, last: number): Uint32Array {
  const words = (last >>> 5) + 1;
  if (bits.length >= words) return bits;
  // Spare capacity, so that a growing workspace isn't copied on each search.
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

function isAscending(numbers: Uint32Array): boolean {
  for (let i = 1; i < numbers.length; i++) if ((numbers[i - 1] ?? 0) > (numbers[i] ?? 0)) return false;
  return true;
}
