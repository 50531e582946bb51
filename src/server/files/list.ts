import { ApiError, noSuchThing } from "#api/errors.ts";
import type { FileCounts } from "#api/files.ts";
import type { OpenList, Policy } from "#storage/policy/policy.ts";
import { actsAsAdmin, type Actor } from "#storage/access/actor.ts";
import type { ConnectorGate } from "#storage/records/access.ts";
import type { ItemFilter, ItemPosition } from "#storage/records/item-queries.ts";
import type { ItemRecord } from "#storage/item-record.ts";
import type { ItemCount, ItemOrder, ItemStore } from "#storage/records/items.ts";

export interface ItemPageRequest {
  filter: ItemFilter;
  order: ItemOrder;
  limit: number;
  /** The last item of the previous page. For order by title, `kbId` alone is enough to find its place. */
  after?: { kbId: string; value: number | null };
}

export interface ItemPage {
  items: ItemRecord[];
  /** The position of the last item, if more items follow. */
  next: ItemPosition | null;
  total: number;
  gates: ReadonlyMap<string, ConnectorGate>;
}

/**
 * The number of index entries checked at once. They take about 5 ms, so a list over a million items blocks no other
 * request.
 */
const SLICE = 1_000;
/** A title that is checked inside the database costs far less than an entry that is returned from it. */
const TITLE_SLICE = 5_000;

/**
 * Returns a page of the items that the actor may see, in order, with the exact number of all matches. It costs an index
 * walk up to the page's end and a count by access. Only a filter on titles checks every visible item.
 *
 * @throws ApiError `invalid_cursor` when the item to continue after has been purged
 */
export function listItems(policy: Policy, actor: Actor, request: ItemPageRequest): Promise<ItemPage> {
  return policy.readList(actor, (open) => readPage(open, request));
}

/** Like `listItems`, for one connector. For actors who may not learn of the connector, it doesn't exist. */
export function listConnectorItems(
  policy: Policy,
  actor: Actor,
  connectorId: string,
  request: ItemPageRequest,
): Promise<ItemPage> {
  return policy.readList(actor, async (open) => {
    const gates = await open.store.access.connectorGates();
    const gate = gates.find((one) => one.connectorId === connectorId);
    // A connector whose owner left the workspace has no owner, even if that person comes back.
    const isOwn = gate?.ownerUserId === actor.userId && gate.state !== "needs_owner";
    const isKnown = gate !== undefined && (isOwn || actsAsAdmin(actor));
    if (!isKnown && (await countVisible(open, { connectorId })) === 0) {
      throw noSuchThing();
    }
    return readPage(open, { ...request, filter: { ...request.filter, connectorId } });
  });
}

/**
 * Counts the items that the actor may see, by source and kind. `indexed`: items whose text is searchable, including
 * items whose removal is pending. `unsearchable`: all other items, which are found by title, place and metadata.
 */
export function countItemsBySource(policy: Policy, actor: Actor): Promise<FileCounts["counts"]> {
  return policy.readList(actor, async ({ store, accesses }) => {
    const groups = new Map<string, FileCounts["counts"][number]>();
    for await (const row of visibleCounts({ store, accesses }, {})) {
      const key = JSON.stringify([row.source, row.kind]);
      const group = groups.get(key) ?? {
        source: row.source,
        providerId: row.providerId,
        kind: row.kind,
        indexed: 0,
        unsearchable: 0,
      };
      const isSearchable = row.indexState === "indexed" || row.indexState === "held";
      group[isSearchable ? "indexed" : "unsearchable"] += row.count;
      groups.set(key, group);
    }
    return [...groups.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  });
}

async function readPage(open: OpenList, request: ItemPageRequest): Promise<ItemPage> {
  const { store } = open;
  const total = await countMatching(open, request.filter);
  const start = await startOf(open, request);
  const found: ItemPosition[] = [];
  // A first page that contains all items needs no walk to the end of the index.
  const wanted = start === undefined ? Math.min(request.limit + 1, total) : request.limit + 1;
  for await (const positions of visiblePositions(open, request.order, start, request.filter)) {
    found.push(...positions);
    if (found.length >= wanted) break;
  }
  const page = found.slice(0, request.limit);
  const gates = await store.access.connectorGates();
  return {
    items: await store.items.records(page.map((position) => position.kbId)),
    next: found.length > request.limit ? (page.at(-1) ?? null) : null,
    total,
    gates: new Map(gates.map((gate) => [gate.connectorId, gate])),
  };
}

async function startOf(open: OpenList, request: ItemPageRequest): Promise<ItemPosition | undefined> {
  if (request.after === undefined || request.order === "updatedAt") return request.after;
  const position = await open.store.items.positionOf(request.after.kbId, request.order);
  if (position) return position;
  throw new ApiError("invalid_cursor", {
    message: "The cursor belongs to other arguments or is too old. Call again without cursor.",
  });
}

/** Yields the positions of the matching visible items, slice by slice, in order. */
async function* visiblePositions(
  { store, accesses }: OpenList,
  order: ItemOrder,
  start: ItemPosition | undefined,
  filter: ItemFilter,
): AsyncGenerator<ItemPosition[]> {
  const { titlePart, ...columns } = filter;
  // In order by title, the index already contains the text that the title filter matches.
  const part = order === "title" ? titlePart?.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : undefined;
  const rest = part === undefined ? filter : columns;
  let after = start;
  for (;;) {
    const rows = await nextEntries(store, order, part, after);
    const visible = rows.found.filter((row) => accesses.has(row.aclId)).map((row) => row.position);
    const kbIds = visible.map((position) => position.kbId);
    const fitting = isEmpty(rest) ? undefined : await store.items.matching(kbIds, rest);
    yield fitting ? visible.filter((position) => fitting.has(position.kbId)) : visible;
    if (rows.last === undefined) return;
    after = rows.last;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function nextEntries(
  store: OpenList["store"],
  order: ItemOrder,
  part: string | undefined,
  after: ItemPosition | undefined,
): ReturnType<ItemStore["titlesWith"]> {
  if (part !== undefined) return store.items.titlesWith(part, after, TITLE_SLICE);
  const found = await store.items.walk(order, after, SLICE);
  return { found, last: found.length < SLICE ? undefined : found.at(-1)?.position };
}

async function countMatching(open: OpenList, filter: ItemFilter): Promise<number> {
  const { titlePart, ...columns } = filter;
  const total = await countVisible(open, columns);
  if (titlePart === undefined || total === 0) return total;
  let matching = 0;
  for await (const positions of visiblePositions(open, "title", undefined, filter)) matching += positions.length;
  return matching;
}

async function countVisible(open: OpenList, filter: Omit<ItemFilter, "titlePart">): Promise<number> {
  let total = 0;
  for await (const row of visibleCounts(open, filter)) total += row.count;
  return total;
}

async function* visibleCounts(
  { store, accesses }: Pick<OpenList, "store" | "accesses">,
  filter: Omit<ItemFilter, "titlePart">,
): AsyncGenerator<ItemCount> {
  let after: ItemCount | undefined;
  for (;;) {
    const rows = await store.items.counts(filter, after, SLICE);
    for (const row of rows) if (accesses.has(row.aclId)) yield row;
    if (rows.length < SLICE) return;
    after = rows.at(-1);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function isEmpty(filter: ItemFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}
