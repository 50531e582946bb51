import { entitiesRoute, entityContextRoute, type ContextItem, type Entity, type EntityContext } from "#api/entities.ts";
import { cleanField, MAX_CHARS, permalinkOf } from "#api/clean.ts";
import { outsideUrl } from "#api/own-url.ts";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { isoOrNull } from "#core/instant.ts";
import type { Mount } from "#server/http/mount.ts";
import type { ReadRecorder } from "#server/identity/audit/recorder.ts";
import type { ItemRecord } from "#storage/item-record.ts";
import type { EntityOverview, EntityRecord, EntityService } from "./types.ts";

/** Mounts the routes of entities. */
export function mountEntities(
  at: Mount,
  deps: { entities: EntityService; audit: ReadRecorder; settings: { baseUrl: string } },
): void {
  at.member(entitiesRoute, async ({ actor, query: { q, type, limit, cursor } }) => {
    const page = await deps.entities.search(actor, {
      query: q,
      limit,
      ...defined({ type, cursor }),
    });
    return { entities: page.entities.map(toEntity), nextCursor: page.nextCursor, total: page.total };
  });
  at.member(entityContextRoute, async ({ actor, params, query: { kind, after } }) => {
    const answer = await deps.entities.context(actor, {
      entity: params.id,
      ...(kind !== undefined && { kinds: [kind] }),
      ...defined({ after }),
    });
    if (answer.type === "overview") {
      const { openTasks, newest, relations } = answer.overview;
      const kbIds = [...openTasks, ...newest, ...relations].map(({ kbId }) => kbId);
      deps.audit.recordReads(actor, { type: "route", name: "GET /api/entities/{id}" }, kbIds);
      return toContext(answer.overview, deps.settings.baseUrl);
    }
    throw severalMeant(answer.candidates);
  });
}

/** Makes the error for an ambiguous name. Names alone don't distinguish the candidates, so each has details that do. */
function severalMeant(candidates: readonly EntityRecord[]): ApiError {
  const lines = candidates.map(({ entityId, type, name, email, sources, providers }) => {
    const places = (sources.length > 0 ? sources : providers)
      .slice(0, 3)
      .map((place) => cleanField(place, MAX_CHARS.source));
    const who = `${cleanField(name, MAX_CHARS.person)}${email === null ? "" : ` <${cleanField(email, MAX_CHARS.person)}>`}`;
    return `  ${entityId}  ${type}  ${who}  in ${places.join(", ")}`;
  });
  return new ApiError("not_found", {
    message: [`${candidates.length} entities could be meant:`, ...lines].join("\n"),
    hint: `Choose one by its ID: kb entities show ${candidates[0]?.entityId ?? "ent_…"}`,
  });
}

function toEntity(entity: EntityRecord): Entity {
  const { aliases, providers, lastSeenAt, sources: _sources, ...rest } = entity;
  return { ...rest, aliases: [...aliases], providers: [...providers], lastSeenAt: isoOrNull(lastSeenAt) };
}

function toContext(overview: EntityOverview, baseUrl: string): EntityContext {
  return {
    entity: toEntity(overview.entity),
    counts: { ...overview.counts, byKind: { ...overview.counts.byKind } },
    openTasks: overview.openTasks.map((item) => toItem(item, baseUrl)),
    newest: overview.newest.map((item) => toItem(item, baseUrl)),
    relations: overview.relations.map((relation) => ({ ...relation })),
    notes: [...overview.notes],
  };
}

function toItem({ kbId, title, kind, status, url, dueAt, updatedAt }: ItemRecord, baseUrl: string): ContextItem {
  const times = { dueAt: isoOrNull(dueAt), updatedAt: isoOrNull(updatedAt) };
  return { kbId, title, kind, status, url: outsideUrl(url, baseUrl) ?? permalinkOf(baseUrl, kbId), ...times };
}
