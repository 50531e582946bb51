import { inChunks } from "#core/in-chunks.ts";
import { beforeChildren, isInside, isChildId, outermostId } from "#core/child-ids.ts";
import type { ItemOp } from "#storage/batch/item-batch.ts";
import type { ItemWriteStore } from "#storage/records/item-writes.ts";
import type { StoredItem } from "#storage/records/stored-items.ts";
import { isAfterInBytes } from "./byte-order.ts";

/** What a run knows of a connector's stored items: read as it is asked for, and kept. Some 200 bytes an item. */
export type Known = ReturnType<typeof makeKnown>;

const PAGE = 2_000;
const MARKS = 500;
/** Rows of one look ahead: few for one who asks here and there, many for one who asks in order. */
const FEWEST_AHEAD = 8;

type Reads = Pick<ItemWriteStore, "listStored" | "listStoredFrom" | "listStoredOf">;

/** Everything from `from` to `to` was read; without `to` to the end. */
interface Stretch {
  from: string;
  to: string | undefined;
}

/**
 * Makes what a run knows of a connector's items; nothing is read before it is asked for. Of the items of `readAgain`, and of
 * what is in them, no version is told, so that they are read whatever it is.
 */
export function makeKnown(
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
    // What follows was read before: the two are one.
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
    /** Reads what is stored of these items and of the child items in them; what was read already is not read again. */
    async load(externalIds: readonly string[]): Promise<void> {
      const fresh = externalIds.filter((externalId) => !isRead(externalId));
      if (fresh.length === 0) return;
      for await (const item of readSome(store, connectorId, fresh)) keep(item);
      for (const externalId of fresh) single.add(externalId);
    },
    /** What `versionOf` says once the item was read. In the order of the ids, one query answers many calls. */
    async version(externalId: string): Promise<string | undefined> {
      asked++;
      if (!isWhole && !single.has(externalId) && !isInStretch(externalId)) await readAhead(externalId);
      return versionOf(externalId);
    },
    /** The version stored of a living item that was read, unless the same version must be read again. */
    versionOf,
    /** What is stored of an item that was read. */
    find: (externalId: string): StoredItem | undefined => items.get(externalId),
    /** The stored child items of it that were made of its content, and theirs. */
    childrenOf(externalId: string): readonly StoredItem[] {
      const all = [...(children.get(outermostId(externalId))?.values() ?? [])];
      return isChildId(externalId) ? all.filter((item) => isInside(externalId, item.externalId)) : all;
    },
    /** Named but not yet marked in the store; `isCounted`: told to be as it is. */
    markLater: (externalId: string, isCounted: boolean): void =>
      void marks[isCounted ? "counted" : "uncounted"].push(externalId),
    /** What marks them now. */
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
