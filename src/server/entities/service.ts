import { cleanField, cleanLine, MAX_CHARS } from "#api/clean.ts";
import { parseDays } from "#api/days.ts";
import { ApiError } from "#api/errors.ts";
import type { Policy } from "#storage/policy/policy.ts";
import type { CursorCodec, CursorScope } from "#server/http/cursor.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { EntityFinder, EntityOverview, EntityRecord, EntityService } from "./types.ts";
import type { Clock } from "#core/clock.ts";
import { defined } from "#core/defined.ts";
import type { ShownEntity } from "#storage/records/entities.ts";
import type { SearchFilters, SearchIndex, SearchRequest } from "#storage/search-index.ts";
import { foldWords, hasWords, visibleByName } from "./names.ts";
import { relationsOf } from "./relations.ts";

export interface EntityServiceOptions {
  policy: Policy;
  index: SearchIndex;
  finder: EntityFinder;
  cursors: CursorCodec;
  clock: Clock;
}

/** The maximum number of names that a search checks. If more match, the query needs more words. */
const MAX_MATCHES = 1000;
/** The number of visible items from which an overview is made, newest first. */
const EVIDENCE = 200;
const RECENT_MS = 90 * 86_400_000;
const SHOWN = 10;

/** Makes the service of entities. Each answer is built from items that the reader may see now. Source: S11, B21. */
export function makeEntityService(options: EntityServiceOptions): EntityService {
  const { policy, finder, cursors } = options;
  return {
    async search(actor, { query, type, limit, cursor }) {
      const scope: CursorScope = { ...actor, route: "entities", args: { query, type } };
      const from = cursor === undefined ? 0 : cursors.decode(scope, cursor).value;
      const words = foldWords(query);
      const found = await policy.readList(actor, (open) =>
        visibleByName(open, (key) => hasWords(key, words), MAX_MATCHES),
      );
      const matches = found.filter((one) => type === undefined || one.type === type);
      const described = await describeAll(options, actor, matches.slice(from, from + limit));
      const nextCursor =
        matches.length > from + limit ? cursors.encode(scope, { flags: 0, value: from + limit, id: "" }) : null;
      return { entities: described, total: matches.length, nextCursor };
    },

    async context(actor, { entity, kinds, after }) {
      const from = after === undefined ? undefined : startOf(after, options.clock.now(), actor.timeZone);
      const filters: SearchFilters = {
        ...defined({ kinds }),
        ...(from !== undefined && { from, dateField: "updated" }),
      };
      const { found, close, notes } = await resolve(finder, actor, entity);
      const [only, ...others] = found;
      if (only === undefined) throw noEntity(entity, close);
      if (others.length > 0 && entity.trim().toLowerCase() !== "me") {
        return { type: "candidates", candidates: await describeAll(options, actor, found.slice(0, SHOWN)), notes };
      }
      const overview = await overviewOf(options, actor, found, filters, notes);
      if (overview === undefined) throw noEntity(entity, []);
      return { type: "overview", overview };
    },
  };
}

type Found = Pick<ShownEntity, "entityId" | "type" | "name">;

async function resolve(finder: EntityFinder, actor: Actor, text: string) {
  const asked = text.trim();
  if (asked.toLowerCase() === "me") {
    const { found, claims, unlinked } = await finder.me(actor);
    if (found.length + claims.length === 0) {
      throw new ApiError("no_such_person", {
        message: "nothing you can see is linked to you. Give a name or email instead of me.",
      });
    }
    const shown = claims.map(({ name, entityId }) => `${cleanField(name, MAX_CHARS.person)} (${entityId})`);
    return {
      found: [...found, ...claims],
      close: [],
      notes: [
        ...(unlinked.length > 0 ? [`me: no account linked at ${unlinked.join(", ")}.`] : []),
        ...(shown.length > 0 ? [`me includes, by your verified address, as a claim: ${shown.join(", ")}.`] : []),
      ],
    };
  }
  if (asked.startsWith("ent_")) return { found: await finder.named(actor, [asked]), close: [], notes: [] };
  const people = await finder.byName(actor, asked, "person");
  const places = await finder.byName(actor, asked, "container");
  return {
    found: [...people.found, ...places.found],
    close: [...people.close, ...places.close],
    notes: [],
  };
}

async function describeAll(options: EntityServiceOptions, actor: Actor, found: readonly Found[]) {
  const records: EntityRecord[] = [];
  for (const one of found) {
    const overview = await overviewOf(options, actor, [one], {}, [], SHOWN);
    if (overview !== undefined) records.push(overview.entity);
  }
  return records;
}

/** Returns everything about an entity (several for `me`); undefined if no visible item names it. */
async function overviewOf(
  { policy, index, clock }: EntityServiceOptions,
  actor: Actor,
  found: readonly Found[],
  filters: SearchFilters,
  notes: readonly string[],
  evidence = EVIDENCE,
): Promise<EntityOverview | undefined> {
  const entityIds = found.map(({ entityId }) => entityId);
  const isPerson = found.some(({ type }) => type === "person");
  const of: SearchFilters = isPerson ? { people: entityIds } : { containers: entityIds };
  const viewer = await policy.viewerOf(actor);
  const base: SearchRequest = {
    workspaceId: actor.workspaceId,
    viewer,
    query: "",
    filters: { ...filters, ...of },
    order: "recency",
    limit: evidence,
    facets: ["kind", "provider", "source"],
  };
  const all = await index.search(base);
  const tasks = await index.search({
    ...base,
    filters: { ...filters, kinds: ["task"], status: "open", ...(isPerson ? { assignees: entityIds } : of) },
    order: "due",
    limit: 20,
    facets: [],
  });
  const recent = await index.search({
    ...base,
    filters: { ...base.filters, dateField: "updated", from: Math.max(filters.from ?? 0, clock.now() - RECENT_MS) },
    limit: 0,
    facets: [],
  });
  const kbIds = [...new Set([...all.hits, ...tasks.hits].map(({ kbId }) => kbId))];
  return policy.readVisible(actor, kbIds, async ({ store, visible }) => {
    const records = await store.items.records(kbIds.filter((kbId) => visible.has(kbId)));
    const byId = new Map(records.map((record) => [record.kbId, record]));
    const shown = await store.entities.shownOn([...byId.keys()]);
    const own = shown.filter((one) => entityIds.includes(one.entityId));
    const pick = (hits: readonly { kbId: string }[]) => hits.flatMap(({ kbId }) => byId.get(kbId) ?? []);
    const newest = pick(all.hits);
    const entity = toRecord(
      own,
      newest.map(({ kbId }) => kbId),
    );
    if (entity === undefined) return undefined;
    return {
      entity: {
        ...entity,
        providers: (all.facets.provider ?? []).map(({ value }) => value),
        sources: (all.facets.source ?? []).map(({ value }) => value),
        itemCount: all.total,
        lastSeenAt: newest[0]?.updatedAt ?? null,
      },
      counts: {
        items: all.total,
        recent: recent.total,
        openTasks: tasks.total,
        byKind: Object.fromEntries((all.facets.kind ?? []).map(({ value, count }) => [value, count])),
      },
      openTasks: pick(tasks.hits),
      newest: newest.slice(0, 20),
      relations: relationsOf(shown, entityIds, newest),
      notes,
    };
  });
}

/** Makes the record with the name and aliases that the newest items show. */
function toRecord(own: readonly ShownEntity[], newestFirst: readonly string[]) {
  const rank = new Map(newestFirst.map((kbId, at) => [kbId, at]));
  const rows = own.toSorted((a, b) => (rank.get(a.kbId) ?? Infinity) - (rank.get(b.kbId) ?? Infinity));
  const [first] = rows;
  if (first === undefined) return undefined;
  const names = [...new Set(rows.map(({ name }) => name))].filter((name) => name !== first.name);
  return {
    entityId: first.entityId,
    type: first.type,
    name: first.name,
    aliases: names.slice(0, 5),
    email: rows.find(({ email }) => email !== null)?.email ?? null,
    login: rows.find(({ login }) => login !== null)?.login ?? null,
    claimed: rows.every(({ claimed }) => claimed),
  };
}

function startOf(text: string, now: number, timeZone: string): number {
  const range = parseDays(text, now, timeZone);
  if (range !== undefined) return range.from;
  throw new ApiError("invalid_argument", {
    field: "after",
    message: `after "${cleanLine(text, 60)}" is not a date. Use 2026-11-17, today, 7d (ago) or +7d (ahead).`,
  });
}

function noEntity(text: string, close: readonly Found[]): ApiError {
  const names = close.map(({ name, entityId }) => `${cleanField(name, MAX_CHARS.person)} (${entityId})`);
  const hint = names.length > 0 ? ` Close: ${names.join(", ")}.` : "";
  return new ApiError("not_found", {
    message: `no person, folder or other thing named "${cleanLine(text, 100)}" in what you can see.${hint}`,
    hint: "Look for part of the name: kb entities search NAME",
  });
}
