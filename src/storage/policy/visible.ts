import { LRUCache } from "lru-cache";
import type { Principal } from "#core/principals.ts";
import { type Growing, grown, push } from "#storage/index/growing.ts";
import type { AccessStore } from "#storage/records/access.ts";
import { AccessCodes } from "#storage/access/access-codes.ts";

/** The access numbers of a workspace that are open to a person's principals. */
export interface VisibleAccesses {
  has(aclId: number): boolean;
}

export interface VisibleCache {
  /**
   * Returns the accesses that are open to these principals, up to the newest in the given store's state. They are
   * derived from cached data of the workspace and of each principal, because the meaning of a number never changes:
   * when a person joins a group, only the lists of that group are read, and when a person leaves one, nothing is.
   */
  of(access: AccessStore, principals: readonly Principal[]): Promise<VisibleAccesses>;
}

/** The lists of all accesses, up to a number. */
interface Table {
  codes: AccessCodes;
  mark: number;
}

/** Ascending numbers of the lists that name a principal, up to a number. */
interface PrincipalLists {
  lists: Growing<Uint32Array>;
  mark: number;
}

/** Accesses read at once: some 10 ms of work, so that a large workspace doesn't block others. */
const SLICE = 20_000;
/** Bytes of an entry in addition to its arrays. */
const ENTRY_BYTES = 150;
const NONE = new Uint32Array(0);
/** In one pass over all accesses, opening one takes this many times less than a look-up. */
const OPEN_RATIO = 8;

/**
 * Makes the cache of visible accesses. Each kind of entry has its own LRU with a limit of `maxBytes`. An entry that is
 * larger than this limit isn't cached.
 */
export function makeVisibleCache(maxBytes = 64 * 1024 * 1024): VisibleCache {
  const tables = new LRUCache<string, Table>({
    maxSize: maxBytes,
    sizeCalculation: ({ codes }) => codes.bytes + ENTRY_BYTES,
  });
  const listed = new LRUCache<string, PrincipalLists>({
    maxSize: maxBytes,
    sizeCalculation: ({ lists }, key) => lists.array.byteLength + key.length + ENTRY_BYTES,
  });
  const sets = new LRUCache<string, VisibleSet>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }, key) => bytes + key.length + ENTRY_BYTES,
  });

  async function tableOf(access: AccessStore, upTo: number): Promise<Table> {
    const key = access.workspaceId;
    const table = tables.get(key) ?? { codes: new AccessCodes(), mark: 0 };
    // Stored before the first await, so that concurrent callers extend the same table.
    if (table.mark === 0) tables.set(key, table);
    while (table.mark < upTo) {
      const text = await access.accessTextAfter(table.mark, SLICE);
      table.codes.addText(text ?? "");
      const isDone = text === null || table.codes.lastAcl >= upTo;
      table.mark = Math.max(table.mark, isDone ? upTo : table.codes.lastAcl);
      if (isDone) keep(tables, key, table);
      else await new Promise((resolve) => setImmediate(resolve));
    }
    return table;
  }

  /**
   * Returns the lists of each principal. Principals for which lists are cached up to the same number are read with one
   * query.
   */
  async function listsOf(access: AccessStore, principals: readonly Principal[], upTo: number) {
    const held = new Map<Principal, PrincipalLists>();
    const behind = new Map<number, Principal[]>();
    for (const principal of principals) {
      const key = `${access.workspaceId} ${principal}`;
      const lists = listed.get(key) ?? { lists: { array: NONE, length: 0 }, mark: 0 };
      held.set(principal, lists);
      if (lists.mark >= upTo) continue;
      const others = behind.get(lists.mark);
      if (others) others.push(principal);
      else behind.set(lists.mark, [principal]);
    }
    for (const [after, those] of behind) {
      const rows = await access.listsHolding(those, after);
      for (const principal of those) {
        const entry = held.get(principal);
        if (entry === undefined || entry.mark >= upTo) continue;
        const fresh = (rows.get(principal) ?? []).filter((listId) => listId > entry.mark).sort((a, b) => a - b);
        for (const listId of fresh) push(entry.lists, listId);
        entry.mark = upTo;
        keep(listed, `${access.workspaceId} ${principal}`, entry);
      }
    }
    return held;
  }

  return {
    async of(access, principals) {
      const marks = await access.marks();
      const held = await listsOf(access, principals, marks.listId);
      const table = await tableOf(access, marks.aclId);
      const named = [...held].filter(([, { lists }]) => lists.length > 0);
      // A principal that is on no list gives no access, so two people who differ only in such principals see the same
      // items.
      const key = [access.workspaceId, ...named.map(([principal]) => principal)].join("\n");
      const known = sets.get(key);
      const set = known ?? new VisibleSet();
      const lists = named.map(([, entry]) => entry.lists);
      const hasMore = set.follow(table.codes, lists, marks);
      if (known === undefined || hasMore) keep(sets, key, set);
      return set;
    },
  };
}

/** The accesses that are open to these principals, one bit each. */
class VisibleSet implements VisibleAccesses {
  #lists: Uint32Array = NONE;
  #listMark = 0;
  #accesses: Uint32Array = NONE;
  #aclMark = 0;

  get bytes(): number {
    return this.#lists.byteLength + this.#accesses.byteLength;
  }

  has(aclId: number): boolean {
    return (((this.#accesses[aclId >>> 5] ?? 0) >>> (aclId & 31)) & 1) === 1;
  }

  /**
   * Brings the set up to these marks and no further, though more lists may be cached. @returns true when anything was
   * new
   */
  follow(
    codes: AccessCodes,
    held: readonly Growing<Uint32Array>[],
    { listId, aclId }: { listId: number; aclId: number },
  ): boolean {
    const isBehind = this.#listMark < listId || this.#aclMark < aclId;
    if (this.#listMark < listId) {
      this.#lists = grown(this.#lists, (listId >>> 5) + 1);
      for (const lists of held) this.#addLists(lists);
      this.#listMark = listId;
    }
    if (this.#aclMark < aclId) {
      const isMost = aclId - this.#aclMark > aclId / OPEN_RATIO;
      this.#accesses = isMost ? codes.openTo(this.#lists) : this.#opened(codes, aclId);
      this.#aclMark = aclId;
    }
    return isBehind;
  }

  #addLists({ array, length }: Growing<Uint32Array>): void {
    for (let i = length - 1; i >= 0; i--) {
      const listId = array[i] ?? 0;
      if (listId <= this.#listMark) return;
      this.#lists[listId >>> 5] = (this.#lists[listId >>> 5] ?? 0) | (1 << (listId & 31));
    }
  }

  #opened(codes: AccessCodes, mark: number): Uint32Array {
    const bits = grown(this.#accesses, (mark >>> 5) + 1);
    for (let aclId = this.#aclMark + 1; aclId <= mark; aclId++) {
      if (codes.isOpen(this.#lists, aclId)) bits[aclId >>> 5] = (bits[aclId >>> 5] ?? 0) | (1 << (aclId & 31));
    }
    return bits;
  }
}

/** Replaces a value. The cache doesn't update the size of a value that is set again, so the value is deleted first. */
function keep<V extends object>(cache: LRUCache<string, V>, key: string, value: V): void {
  cache.delete(key);
  cache.set(key, value);
}
