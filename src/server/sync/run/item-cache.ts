import { inChunks } from "#core/in-chunks.ts";
import { beforeChildren, isInside, isChildId, outermostId } from "#core/child-ids.ts";
import type { ItemOp } from "#storage/item-batch.ts";
import type { ItemWriteStore } from "#storage/records/item-writes.ts";
import type { StoredItem } from "#storage/records/stored-items.ts";
import { isAfterInBytes } from "./byte-order.ts";

/** A run's view of a connector's stored items, read on demand and cached. Each item uses some 200 bytes. */
export type ItemCache = ReturnType<typeof makeItemCache>;

const PAGE = 2_000;
const MARKS = 500;
/** The minimum number of rows read ahead. More are read when requests come in order. */
const FEWEST_AHEAD = 8;

type Reads = Pick<ItemWriteStore, "listStored" | "listStoredFrom" | "listStoredOf">;

/** A range of ids from `from` to `to` that was read completely. Without `to`, the range has no end. */
interface Stretch {
  from: string;
  to: string | undefined;
}

/**
 * Makes a run's view of a connector's items. Rows are read only when they are needed. The items of `readAgain` and
 * their child items report no version, so they are read whatever their version is.
 */
export function makeItemCache(
  store: Reads,
  connectorId: string,
  { readAgain = new Set() }: { readAgain?: ReadonlySet<string> } = {},
) {
  const items = new Map<string, StoredItem>();
  const children = new Map<string, Map<string, StoredItem>>();
  const single = new Set<string>();
  const stretches: Stretch[] = [];
  let isWhole = false;
  let marks: { counted: string[]; uncounted: string[] } = { counted: [], uncounted: [] };
  let [ahead, asked] = [FEWEST_AHEAD, 0];

  function keep(item: StoredItem): void {
    items.set(item.externalId, item);
    if (!isChildId(item.externalId)) return;
    const outermost = outermostId(item.externalId);
    const of = children.get(outermost) ?? new Map<string, StoredItem>();
    of.set(item.externalId, item);
    children.set(outermost, of);
  }

  /** Returns the index of the last stretch that begins at or before this id. */
  function stretchAt(externalId: string): number {
    let [low, high] = [0, stretches.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isAfterInBytes(stretches[middle]?.from ?? "", externalId)) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }

  /** Whether everything from one id to the other was read. */
  function isInStretch(externalId: string, upTo = externalId): boolean {
    const stretch = stretches[stretchAt(externalId)];
    return stretch !== undefined && (stretch.to === undefined || !isAfterInBytes(upTo, stretch.to));
  }

  /** Includes the child items: "0" is the character after "/". */
  const isRead = (externalId: string) =>
    isWhole || single.has(externalId) || isInStretch(externalId, `${externalId}!/0`);

  async function readAhead(externalId: string): Promise<void> {
    ahead = asked * 2 >= ahead ? Math.min(PAGE, ahead * 4) : Math.max(FEWEST_AHEAD, ahead / 4);
    asked = 0;
    const rows = await store.listStoredFrom(connectorId, externalId, ahead);
    for (const row of rows) keep(row);
    const to = rows.length < ahead ? undefined : rows.at(-1)?.externalId;
    const at = stretchAt(externalId);
    const next = stretches[at + 1];
    // The next stretch overlaps this one: merge the two.
    if (next && (to === undefined || !isAfterInBytes(next.from, to))) {
      stretches.splice(at + 1, 1, { from: externalId, to: laterOf(to, next.to) });
    } else {
      stretches.splice(at + 1, 0, { from: externalId, to });
    }
  }

  function versionOf(externalId: string): string | undefined {
    const item = items.get(externalId);
    if (readAgain.size > 0 && readAgain.has(outermostId(externalId))) return undefined;
    return item && !item.isRetryable ? (item.version ?? undefined) : undefined;
  }

  return {
    /** Reads all items, for a run that lists everything. */
    async loadAll(): Promise<void> {
      isWhole = true;
      for await (const item of readAll(store, connectorId)) keep(item);
    },
    /** Reads the stored rows of these items and of their child items, except rows that were read already. */
    async load(externalIds: readonly string[]): Promise<void> {
      const fresh = externalIds.filter((externalId) => !isRead(externalId));
      if (fresh.length === 0) return;
      for await (const item of readSome(store, connectorId, fresh)) keep(item);
      for (const externalId of fresh) single.add(externalId);
    },
    /** Reads the item if needed and returns its `versionOf`. If the ids come in order, one query serves many calls. */
    async version(externalId: string): Promise<string | undefined> {
      asked++;
      if (!isWhole && !single.has(externalId) && !isInStretch(externalId)) await readAhead(externalId);
      return versionOf(externalId);
    },
    /**
     * Returns the stored version of an item that was read and isn't removed. Undefined if the item must be read
     * whatever its version is.
     */
    versionOf,
    /** Returns the stored row of an item that was read. */
    find: (externalId: string): StoredItem | undefined => items.get(externalId),
    /** Returns the item's stored child items that were made from its content, and their child items. */
    childrenOf(externalId: string): readonly StoredItem[] {
      const all = [...(children.get(outermostId(externalId))?.values() ?? [])];
      return isChildId(externalId) ? all.filter((item) => isInside(externalId, item.externalId)) : all;
    },
    /** Records an item that is named but not yet marked in the store. `isCounted`: it was reported as unchanged. */
    markLater: (externalId: string, isCounted: boolean): void =>
      void marks[isCounted ? "counted" : "uncounted"].push(externalId),
    /** Yields the ops that mark the recorded items. */
    *takeMarks(): Generator<ItemOp> {
      const { counted, uncounted } = marks;
      marks = { counted: [], uncounted: [] };
      for (const externalIds of inChunks(counted, MARKS)) yield { type: "seen", externalIds, isCounted: true };
      for (const externalIds of inChunks(uncounted, MARKS)) yield { type: "seen", externalIds };
    },
  };
}

function laterOf(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return undefined;
  return isAfterInBytes(a, b) ? a : b;
}

async function* readAll(store: Reads, connectorId: string): AsyncGenerator<StoredItem, void> {
  for (let after = ""; ;) {
    const page = await store.listStored(connectorId, after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.externalId;
    // The reads are synchronous: without a pause, a million items would block the main thread for seconds.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Child items are read in pages. Pages are small because most items have no child items. */
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
