import type { ItemWriteStore, StoredItem } from "#server/ports/store/item-writes.ts";

/**
 * What a connector has stored, as a run saw it at its start, and what the run has named since. Some 200 bytes an item.
 */
export interface Known {
  /** The version stored of a living item, unless the same version must be read again. */
  versionOf(externalId: string): string | undefined;
  /** Notes that the run named it; gives what was stored of it. */
  name(externalId: string): StoredItem | undefined;
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
