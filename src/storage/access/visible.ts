import { LRUCache } from "lru-cache";
import { isOpen } from "./decision.ts";
import type { Principal } from "#core/principals.ts";
import type { AccessStore } from "#storage/records/access.ts";

/** Which access numbers of a workspace somebody's principals open. */
export interface VisibleAccesses {
  has(aclId: number): boolean;
}

export interface VisibleCache {
  /**
   * The accesses that these principals open, up to the newest of the given store's state. `key` names workspace and
   * principals; a kept answer is extended by what came since, for a number never changes its meaning.
   */
  of(access: AccessStore, key: string, principals: readonly Principal[]): Promise<VisibleAccesses>;
}

interface Entry {
  lists: Bits;
  accesses: Bits;
  listMark: number;
  aclMark: number;
}

/** Rows read at once: about 5 ms of work, so that a large workspace does not hold up others. */
const SLICE = 5_000;

/**
 * Makes the cache of visible accesses; the least recently used entries go when `maxBytes` is passed, and one that takes more
 * alone is not kept.
 */
export function makeVisibleCache(maxBytes = 64 * 1024 * 1024): VisibleCache {
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ lists, accesses }) => lists.bytes + accesses.bytes,
  });

  /** The size of a value that is set again is not looked at, so it is taken out first. */
  function keep(key: string, entry: Entry): void {
    entries.delete(key);
    entries.set(key, entry);
  }

  return {
    async of(access, key, principals) {
      const known = entries.get(key);
      const entry = known ?? { lists: new Bits(), accesses: new Bits(), listMark: 0, aclMark: 0 };
      // Before anything is waited for: who asks for the same meanwhile extends the same.
      if (known === undefined) entries.set(key, entry);
      if (await extend(entry, access, principals)) keep(key, entry);
      return entry.accesses;
    },
  };
}

/** Brings an entry forward; true when there was anything new. */
async function extend(entry: Entry, access: AccessStore, principals: readonly Principal[]): Promise<boolean> {
  const marks = await access.marks();
  const isBehind = entry.listMark < marks.listId || entry.aclMark < marks.aclId;
  if (entry.listMark < marks.listId) {
    for (const listId of await access.listsHolding(principals, entry.listMark)) entry.lists.add(listId);
    entry.listMark = Math.max(entry.listMark, marks.listId);
  }
  const isMet = (listId: number) => entry.lists.has(listId);
  while (entry.aclMark < marks.aclId) {
    const rows = await access.accessesAfter(entry.aclMark, SLICE);
    for (const { aclId, listIds } of rows) {
      if (isOpen(listIds, isMet)) entry.accesses.add(aclId);
    }
    const last = rows.at(-1);
    entry.aclMark = Math.max(entry.aclMark, rows.length < SLICE ? marks.aclId : (last?.aclId ?? marks.aclId));
    if (rows.length === SLICE) await new Promise((resolve) => setImmediate(resolve));
  }
  return isBehind;
}

/** A growing set of small numbers. */
class Bits implements VisibleAccesses {
  #words = new Uint8Array(64);

  get bytes(): number {
    return this.#words.length;
  }

  has(n: number): boolean {
    return ((this.#words[n >> 3] ?? 0) & (1 << (n & 7))) !== 0;
  }

  add(n: number): void {
    const at = n >> 3;
    if (at >= this.#words.length) {
      const larger = new Uint8Array(Math.max(at + 1, this.#words.length * 2));
      larger.set(this.#words);
      this.#words = larger;
    }
    this.#words[at] = (this.#words[at] ?? 0) | (1 << (n & 7));
  }
}
