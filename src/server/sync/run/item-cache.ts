import { inChunks } from "#core/in-chunks.ts";
import { beforeChildren, isInside, isChildId, outermostId } from "#core/child-ids.ts";
import type { ItemOp } from "#storage/item-batch.ts";
import type { ItemWriteStore } from "#storage/records/item-writes.ts";
import type { StoredItem } from "#storage/records/stored-items.ts";
import { isAfterInBytes } from "./byte-order.ts";

/** A run's view of a connector's stored items: read on demand and cached. Some 200 bytes an item. */
export type ItemCache = ReturnType<typeof makeItemCache>;

const PAGE = 2_000;
const MARKS = 500;
/** Rows read ahead: few for scattered requests, many for requests in order. */
const FEWEST_AHEAD = 8;

type Reads = Pick<ItemWriteStore, "listStored" | "listStoredFrom" | "listStoredOf">;

/** A range read completely, from `from` to `to`; without `to` to the end. */
interface Stretch {
  from: string;
  to: string | undefined;
}

/**
 * Makes a run's view of a connector's items; nothing is read before it is asked for. The items of `readAgain`, and
 * their child items, report no version, so that they are read whatever it is.
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

  /** The last stretch that begins at or before this id. */
  function stretchAt(externalId: string): number {
    let [low, high] = [0, stretches.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isAfterInBytes(stretches[middle]?.from ?? "", externalId)) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }

  /** Whether everything from this id to another was read. */
  function isInStretch(externalId: string, upTo = externalId): boolean {
    const stretch = stretches[stretchAt(externalId)];
    return stretch !== undefined && (stretch.to === undefined || !isAfterInBytes(upTo, stretch.to));
  }

  /** With its child items: "0" is the character after "/". */
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
    // The next stretch was read before: merge the two.
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
    /** Reads everything, for a run that lists everything. */
    async loadAll(): Promise<void> {
      isWhole = true;
      for await (const item of readAll(store, connectorId)) keep(item);
    },
    /**
     * Reads the stored rows of these items and of their child items; rows that were read already are not read again.
     */
    async load(externalIds: readonly string[]): Promise<void> {
      const fresh = externalIds.filter((externalId) => !isRead(externalId));
      if (fresh.length === 0) return;
      for await (const item of readSome(store, connectorId, fresh)) keep(item);
      for (const externalId of fresh) single.add(externalId);
    },
    /** Reads the item if needed and returns its `versionOf`. In the order of the ids, one query answers many calls. */
    async version(externalId: string): Promise<string | undefined> {
      asked++;
      if (!isWhole && !single.has(externalId) && !isInStretch(externalId)) await readAhead(externalId);
      return versionOf(externalId);
    },
    /** The stored version of a living item that was read, unless the same version must be read again. */
    versionOf,
    /** The stored row of an item that was read. */
    find: (externalId: string): StoredItem | undefined => items.get(externalId),
    /** Its stored child items that were made from its content, and their child items. */
    childrenOf(externalId: string): readonly StoredItem[] {
      const all = [...(children.get(outermostId(externalId))?.values() ?? [])];
      return isChildId(externalId) ? all.filter((item) => isInside(externalId, item.externalId)) : all;
    },
    /** Notes an item that is named but not yet marked in the store; `isCounted`: it was reported as unchanged. */
    markLater: (externalId: string, isCounted: boolean): void =>
      void marks[isCounted ? "counted" : "uncounted"].push(externalId),
    /** The ops that mark them now. */
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
    // Reading is synchronous: without a pause a million items would block the main thread for seconds.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A few child items are read together; most items have none. */
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
