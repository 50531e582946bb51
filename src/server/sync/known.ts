import { isInside, isPartId, outermostId } from "#server/ports/parts.ts";
import type { ItemWriteStore, StoredItem } from "#server/ports/store/item-writes.ts";

/**
 * What a connector has stored, as a run saw it at its start, and what the run has named since. Some 200 bytes an item.
 */
export interface Known {
  /** The version stored of a living item, unless the same version must be read again. */
  versionOf(externalId: string): string | undefined;
  /** Notes that the run named it; gives what was stored of it. */
  name(externalId: string): StoredItem | undefined;
  /** The stored parts of it that were made of its content, and theirs. */
  partsOf(externalId: string): readonly StoredItem[];
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

/** Reads what is stored of a connector's items. */
export async function loadKnown(store: Pick<ItemWriteStore, "listStored">, connectorId: string): Promise<Known> {
  const items = new Map<string, StoredItem>();
  for (let after = ""; ;) {
    const page = await store.listStored(connectorId, after, PAGE);
    for (const item of page) items.set(item.externalId, item);
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    after = last.externalId;
    // Reading is synchronous: without a pause a million items would hold up the main thread for seconds.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const parts = groupParts(items.values());
  const named = new Set<string>();
  let marks: string[] = [];
  return {
    versionOf(externalId) {
      const item = items.get(externalId);
      return item && !item.isRetryable ? (item.version ?? undefined) : undefined;
    },
    name(externalId) {
      named.add(externalId);
      return items.get(externalId);
    },
    partsOf(externalId) {
      const all = parts.get(outermostId(externalId)) ?? [];
      return isPartId(externalId) ? all.filter((item) => isInside(externalId, item.externalId)) : all;
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

/** Parts at any depth by the item of the source that they are in. */
function groupParts(items: Iterable<StoredItem>): Map<string, StoredItem[]> {
  const parts = new Map<string, StoredItem[]>();
  for (const item of items) {
    if (!isPartId(item.externalId)) continue;
    const outermost = outermostId(item.externalId);
    const list = parts.get(outermost);
    if (list) list.push(item);
    else parts.set(outermost, [item]);
  }
  return parts;
}
