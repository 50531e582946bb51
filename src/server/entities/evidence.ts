import type { EntityType, ItemKind } from "#api/common.ts";
import type { OpenRead, Policy } from "#server/access/policy.ts";
import type { Actor } from "#server/ports/actor.ts";
import type { EntityRecord } from "#server/ports/answers.ts";
import type { SearchFilters, SearchIndex, SearchOrder, SearchResponse } from "#server/ports/search-index.ts";
import type { ShownEntity } from "#server/ports/store/entities.ts";
import type { ItemRecord } from "#server/ports/store/items.ts";

/** What the newest visible items of an entity say about it. */
export interface Evidence {
  /** Newest first. */
  items: ItemRecord[];
  /** Every entity those items show, this one included. */
  shown: ShownEntity[];
  total: number;
  sources: string[];
  byKind: Record<string, number>;
}

/** Which items of the entity to look at. */
export interface EvidenceRequest {
  kinds?: readonly ItemKind[];
  /** Epoch milliseconds. */
  from?: number;
  limit: number;
}

/** Reads what the reader may see of an entity, and nothing else. */
export interface EvidenceReader {
  of(actor: Actor, entityId: string, type: EntityType, request: EvidenceRequest): Promise<Evidence>;
  /** Open tasks of the entity: those assigned to a person, those inside anything else; the earliest due first. */
  openTasks(
    actor: Actor,
    entityId: string,
    type: EntityType,
    request: EvidenceRequest,
  ): Promise<{ items: ItemRecord[]; total: number }>;
  count(actor: Actor, entityId: string, type: EntityType, request: Omit<EvidenceRequest, "limit">): Promise<number>;
}

/** Makes the reader. The index proposes, by the same permissions as any search; the records are judged again. */
export function makeEvidenceReader({ index, policy }: { index: SearchIndex; policy: Policy }): EvidenceReader {
  async function ask(actor: Actor, filters: SearchFilters, order: SearchOrder, limit: number): Promise<SearchResponse> {
    const viewer = await policy.viewerOf(actor);
    return index.search({
      workspaceId: actor.workspaceId,
      viewer: { principals: viewer.principals, epoch: viewer.epoch },
      query: "",
      filters,
      order,
      limit,
      facets: ["source", "kind"],
    });
  }

  async function read<T>(actor: Actor, found: SearchResponse, work: (open: OpenRead, kbIds: string[]) => Promise<T>) {
    const asked = found.hits.map((hit) => hit.kbId);
    return policy.readVisible(actor, asked, (open) =>
      work(
        open,
        asked.filter((kbId) => open.visible.has(kbId)),
      ),
    );
  }

  return {
    async of(actor, entityId, type, request) {
      const found = await ask(actor, filtersOf(entityId, type, request), "recency", request.limit);
      return read(actor, found, async ({ store }, kbIds) => ({
        items: await store.items.records(kbIds),
        shown: await store.entities.shownOn(kbIds),
        total: found.total,
        sources: (found.facets.source ?? []).map((group) => group.value),
        byKind: Object.fromEntries((found.facets.kind ?? []).map((group) => [group.value, group.count])),
      }));
    },

    async openTasks(actor, entityId, type, request) {
      const base = { ...filtersOf(entityId, type, request), kinds: ["task"], status: "open" } as const;
      const { people, ...rest } = base;
      const filters = people === undefined ? base : { ...rest, assignees: people };
      // Undated tasks have no place in the order of due dates, and are tasks all the same.
      const found = await ask(actor, filters, "recency", request.limit);
      const items = await read(actor, found, ({ store }, kbIds) => store.items.records(kbIds));
      return { items: items.sort(byDue), total: found.total };
    },

    async count(actor, entityId, type, request) {
      return (await ask(actor, filtersOf(entityId, type, request), "recency", 0)).total;
    },
  };
}

/** The entity as the evidence shows it; undefined when no visible item does. */
export function toEntityRecord(entityId: string, type: EntityType, evidence: Evidence): EntityRecord | undefined {
  const own = evidence.shown.filter((shown) => shown.entityId === entityId);
  const order = new Map(evidence.items.map((item, at) => [item.kbId, at]));
  own.sort((a, b) => (order.get(a.kbId) ?? 0) - (order.get(b.kbId) ?? 0));
  const [newest] = own;
  if (newest === undefined) return undefined;
  return {
    entityId,
    type,
    name: newest.name,
    aliases: [...new Set(own.map((shown) => shown.name))].filter((name) => name !== newest.name),
    email: own.find((shown) => shown.email !== null)?.email ?? null,
    login: own.find((shown) => shown.login !== null)?.login ?? null,
    claimed: own.every((shown) => shown.claimed),
    sources: evidence.sources,
    itemCount: evidence.total,
    lastActiveAt: evidence.items[0]?.updatedAt ?? null,
  };
}

function filtersOf(entityId: string, type: EntityType, { kinds, from }: Omit<EvidenceRequest, "limit">): SearchFilters {
  return {
    ...(type === "person" ? { people: [entityId] } : { containers: [entityId] }),
    ...(kinds !== undefined && kinds.length > 0 && { kinds }),
    ...(from !== undefined && { dateField: "updated", from }),
  };
}

/** Earliest due first, undated last. */
function byDue(a: ItemRecord, b: ItemRecord): number {
  return (a.dueAt ?? Infinity) - (b.dueAt ?? Infinity) || (a.kbId < b.kbId ? -1 : 1);
}
