import { beforeChildren, isInside, isChildId, outermostId } from "#core/child-ids.ts";
import type { ItemWriteStore, StoredItem } from "#storage/records/item-writes.ts";

/**
 * What a connector has stored, as a run saw it at its start, and what the run has named since. Some 200 bytes an item.
 */
export interface Known {
  /** Reads what is stored of these items and their child items, or of all; what was read already is not read again. */
  load(externalIds?: readonly string[]): Promise<void>;
  /** The version stored of a living item, unless the same version must be read again. */
  versionOf(externalId: string): string | undefined;
  /** Whether it was stored when it was loaded. */
  has(externalId: string): boolean;
  /** Notes that the run named it; gives what was stored of it. */
  name(externalId: string): StoredItem | undefined;
  /** The stored child items of it that were made of its content, and theirs. */
  childrenOf(externalId: string): readonly StoredItem[];
  /** Named but not yet marked in the store. */
  markLater(externalId: string): void;
  /** What is to be marked now, in batches. */
  takeMarks(): Generator<string[]>;
  forget(externalId: string): void;
  /** Stored items that this run (of this process) has not named. */
  listUnnamed(): StoredItem[];
}

const PAGE = 2_000;
const MARKS = 500;

type Reads = Pick<ItemWriteStore, "listStored" | "listStoredOf">;

/** Makes what a run knows of a connector's items; nothing is read before `load`. */
export function makeKnown(store: Reads, connectorId: string): Known {
  const items = new Map<string, StoredItem>();
  const named = new Set<string>();
  let children = new Map<string, StoredItem[]>();
  let isWhole = false;
  let marks: string[] = [];
  return {
    async load(externalIds) {
      if (isWhole) return;
      isWhole = externalIds === undefined;
      const read = externalIds ? readSome(store, connectorId, externalIds) : readAll(store, connectorId, "");
      for await (const item of read) items.set(item.externalId, item);
      children = groupChildren(items.values());
    },
    versionOf(externalId) {
      const item = items.get(externalId);
      return item && !item.isRetryable ? (item.version ?? undefined) : undefined;
    },
    has: (externalId) => items.has(externalId),
    name(externalId) {
      named.add(externalId);
      return items.get(externalId);
    },
    childrenOf(externalId) {
      const all = children.get(outermostId(externalId)) ?? [];
      return isChildId(externalId) ? all.filter((item) => isInside(externalId, item.externalId)) : all;
    },
    markLater: (externalId) => marks.push(externalId),
    *takeMarks() {
      const taken = marks;
      marks = [];
      for (let i = 0; i < taken.length; i += MARKS) yield taken.slice(i, i + MARKS);
    },
    forget: (externalId) => items.delete(externalId),
    listUnnamed: () => [...items.values()].filter((item) => !named.has(item.externalId)),
  };
}

async function* readAll(store: Reads, connectorId: string, from: string): AsyncGenerator<StoredItem, void> {
  for (let after = from; ;) {
    const page = await store.listStored(connectorId, after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.externalId;
    // Reading is synchronous: without a pause a million items would hold up the main thread for seconds.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Some child items are read together; most items have none. */
const CHILD_PAGE = 20;

async function* readSome(
  store: Reads,
  connectorId: string,
  externalIds: readonly string[],
): AsyncGenerator<StoredItem, void> {
  for (const item of await store.listStoredOf(connectorId, externalIds)) {
    yield item;
    for (let after = beforeChildren(item.externalId); ;) {
      const page = await store.listStored(connectorId, after, CHILD_PAGE);
      const inside = page.filter(({ externalId }) => isInside(item.externalId, externalId));
      yield* inside;
      const last = inside.at(-1);
      if (!last || inside.length < CHILD_PAGE) break;
      after = last.externalId;
    }
  }
}

/** Child items at any depth by the item of the source that they are in. */
function groupChildren(items: Iterable<StoredItem>): Map<string, StoredItem[]> {
  const children = new Map<string, StoredItem[]>();
  for (const item of items) {
    if (!isChildId(item.externalId)) continue;
    const outermost = outermostId(item.externalId);
    const list = children.get(outermost);
    if (list) list.push(item);
    else children.set(outermost, [item]);
  }
  return children;
}
