import { parseDays } from "#api/days.ts";
import type { EntityType, ItemKind } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import type { Policy } from "#server/access/policy.ts";
import type { CursorCodec, CursorScope } from "#server/http/cursor.ts";
import type { Actor } from "#server/ports/actor.ts";
import type {
  EntityAnswer,
  EntityOverview,
  EntityRecord,
  EntityRelationRecord,
  EntityService,
} from "#server/ports/answers.ts";
import type { Clock } from "#server/ports/clock.ts";
import type { SearchIndex } from "#server/ports/search-index.ts";
import type { ItemRecord } from "#server/ports/store/items.ts";
import { makeEvidenceReader, toEntityRecord, type Evidence } from "./evidence.ts";
import { findNamed, type NamedEntity } from "./names.ts";

export interface EntityServiceOptions {
  policy: Policy;
  index: SearchIndex;
  cursors: CursorCodec;
  clock: Clock;
}

/** Newest items that an entity's names, dates and relations are read from. */
const EVIDENCE_ITEMS = 20;
const OVERVIEW_EVIDENCE_ITEMS = 50;
const SHOWN_ITEMS = 10;
const MOST_CANDIDATES = 10;
const RECENT_MS = 90 * 86_400_000;

/** People, folders, labels and other entities, each built from the items that the reader may see. Source: S11, B21. */
export function makeEntityService(options: EntityServiceOptions): EntityService {
  const { policy, cursors, clock } = options;
  const evidence = makeEvidenceReader(options);

  async function describe(actor: Actor, named: Pick<NamedEntity, "entityId" | "type">): Promise<EntityRecord[]> {
    const found = await evidence.of(actor, named.entityId, named.type, { limit: EVIDENCE_ITEMS });
    const record = toEntityRecord(named.entityId, named.type, found);
    return record ? [record] : [];
  }

  async function describeAll(actor: Actor, named: readonly NamedEntity[]): Promise<EntityRecord[]> {
    const records: EntityRecord[] = [];
    for (const one of named) records.push(...(await describe(actor, one)));
    return records;
  }

  /** What the text names, and whether it names it without doubt. */
  async function resolve(actor: Actor, asked: string): Promise<{ named: NamedEntity[]; isClear: boolean }> {
    const byId = await policy.readList(actor, async ({ store }) => {
      const entityId =
        asked === "me" ? await store.entities.findByIdentity("person", `user:${actor.userId}`) : entityIdOf(asked);
      const type = entityId === undefined ? undefined : (await store.entities.typesOf([entityId])).get(entityId);
      return entityId === undefined || type === undefined
        ? []
        : [{ entityId, type, rank: 0, nameKey: "" } satisfies NamedEntity];
    });
    if (byId.length > 0 || asked === "me" || entityIdOf(asked) !== undefined) return { named: byId, isClear: true };
    const named = await policy.readList(actor, (open) => findNamed(open, asked));
    const exact = named.filter((one) => one.rank === 0);
    if (exact.length === 1) return { named: exact, isClear: true };
    return { named: exact.length > 0 ? exact : named, isClear: named.length === 1 };
  }

  async function overviewOf(
    actor: Actor,
    named: NamedEntity,
    request: { kinds?: readonly ItemKind[]; from?: number },
  ): Promise<EntityOverview | undefined> {
    const { entityId, type } = named;
    const all = await evidence.of(actor, entityId, type, { limit: OVERVIEW_EVIDENCE_ITEMS });
    const entity = toEntityRecord(entityId, type, all);
    if (!entity) return undefined;
    const isNarrowed = request.kinds !== undefined || request.from !== undefined;
    const chosen = isNarrowed ? await evidence.of(actor, entityId, type, { ...request, limit: SHOWN_ITEMS }) : all;
    const tasks = await evidence.openTasks(actor, entityId, type, { limit: SHOWN_ITEMS });
    const recent = await evidence.count(actor, entityId, type, { from: clock.now() - RECENT_MS });
    return {
      entity,
      counts: { items: all.total, recent, openTasks: tasks.total, byKind: all.byKind },
      openTasks: tasks.items,
      newest: chosen.items.slice(0, SHOWN_ITEMS),
      relations: relationsOf(entityId, all),
      notes:
        all.total > all.items.length
          ? [`Relations are those of the newest ${all.items.length} of ${all.total} items.`]
          : [],
    };
  }

  return {
    async search(actor, query) {
      const scope = scopeOf(actor, query.query, query.type);
      const start = query.cursor === undefined ? undefined : cursors.decode(scope, query.cursor);
      const named = await policy.readList(actor, (open) => findNamed(open, query.query, query.type));
      const at = start === undefined ? -1 : named.findIndex((one) => one.entityId.endsWith(`_${start.id}`));
      // The last one shown may be gone by now: then its place in the list is the next best guess.
      const from = start === undefined ? 0 : (at >= 0 ? at : start.value) + 1;
      const page = named.slice(from, from + query.limit);
      const last = page.at(-1);
      const hasMore = last !== undefined && from + page.length < named.length;
      return {
        entities: await describeAll(actor, page),
        total: named.length,
        nextCursor: hasMore
          ? cursors.encode(scope, { flags: 0, value: from + page.length - 1, id: last.entityId.replace(/^ent_/, "") })
          : null,
      };
    },

    async context(actor, { entity, kinds, after }): Promise<EntityAnswer> {
      const asked = entity.trim();
      const from = after === undefined ? undefined : parseAfter(after, clock.now(), actor.timeZone);
      const { named, isClear } = await resolve(actor, asked);
      const [only] = named;
      if (isClear && only) {
        const overview = await overviewOf(actor, only, {
          ...(kinds && { kinds }),
          ...(from !== undefined && { from }),
        });
        if (overview) return { type: "overview", overview };
      }
      const candidates = isClear ? [] : await describeAll(actor, named.slice(0, MOST_CANDIDATES));
      if (asked !== "me" && candidates.length === 0) throw entityNotFound(asked);
      return { type: "candidates", candidates, notes: notesOf(asked, named.length) };
    },
  };
}

function entityIdOf(text: string): string | undefined {
  return /^ent_[2-9a-km-np-z]{16}$/.test(text) ? text : undefined;
}

function scopeOf(actor: Actor, query: string, type: EntityType | undefined): CursorScope {
  return { workspaceId: actor.workspaceId, userId: actor.userId, route: "entities", args: { query, type } };
}

function parseAfter(text: string, now: number, timeZone: string): number {
  const days = parseDays(text, now, timeZone);
  if (days) return days.from;
  throw new ApiError("invalid_argument", {
    message: `after "${text.slice(0, 60)}" is not a date. Use 2026-11-17, today, 7d (ago) or +7d (ahead).`,
    field: "after",
  });
}

/** Not there and not visible read the same. */
function entityNotFound(asked: string): ApiError {
  return new ApiError("not_found", {
    message: `No entity "${asked.slice(0, 200)}" in what this person may see. Use kb_search_entities to find the right name or entityId.`,
  });
}

function notesOf(asked: string, count: number): string[] {
  if (asked === "me")
    return ["me is the person asking, and no item that they may see names them with a linked account."];
  return count > MOST_CANDIDATES ? [`${count} entities fit; the best ${MOST_CANDIDATES} are listed.`] : [];
}

/** Other entities on the same items: how often, and the newest item that proves it. */
function relationsOf(entityId: string, { items, shown }: Evidence): EntityRelationRecord[] {
  const order = new Map(items.map((item: ItemRecord, at) => [item.kbId, at]));
  const found = new Map<string, EntityRelationRecord>();
  const newestFirst = [...shown].sort((a, b) => (order.get(a.kbId) ?? 0) - (order.get(b.kbId) ?? 0));
  for (const other of newestFirst) {
    if (other.entityId === entityId) continue;
    const key = `${other.role} ${other.entityId}`;
    const known = found.get(key);
    if (known) known.itemCount += 1;
    else {
      const { role, type, name, claimed, kbId } = other;
      found.set(key, { role, entityId: other.entityId, type, name, claimed, itemCount: 1, kbId });
    }
  }
  return [...found.values()].sort((a, b) => b.itemCount - a.itemCount || (a.entityId < b.entityId ? -1 : 1));
}
