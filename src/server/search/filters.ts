import { defined } from "#core/defined.ts";
import { cleanField, cleanLine, MAX_CHARS } from "#api/clean.ts";
import { formatDay, parseDays } from "#api/days.ts";
import { ApiError } from "#api/errors.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { EntityFinder, NamedEntity } from "#server/entities/types.ts";
import type { SearchArguments } from "./types.ts";
import type { SearchFilters, SearchRequest, SearchResponse } from "#storage/search-index.ts";

const DAY_MS = 86_400_000;

/** Lookups that resolve the values of filters. They use only what the reader may see. */
export interface FilterContext {
  actor: Actor;
  finder: EntityFinder;
  now: number;
  /** Runs a search over everything that the reader may see. */
  probe(request: Pick<SearchRequest, "filters"> & Partial<SearchRequest>): Promise<SearchResponse>;
  lookUp(asked: string): Promise<{ kbIds: string[] }>;
}

export interface ResolvedFilters {
  filters: SearchFilters;
  notes: string[];
}

/**
 * Resolves arguments to filters. If only a hidden item matches a value, the response is the same as if nothing matched:
 * an error that suggests only visible values (S9).
 *
 * @throws ApiError `invalid_argument`, `no_such_person`
 */
export async function resolveFilters(args: SearchArguments, context: FilterContext): Promise<ResolvedFilters> {
  const notes: string[] = [];
  const filters: SearchFilters = {
    ...defined({ kinds: args.kinds, status: args.status }),
    ...fieldsOf(args),
    ...datesOf(args, context, notes),
  };
  if (args.assignee !== undefined) filters.assignees = await personIds("assignee", args.assignee, context, notes);
  if (args.people !== undefined) filters.people = await personIds("people", args.people, context, notes);
  if (args.source !== undefined) Object.assign(filters, await sourceFilter(args.source, context, notes));
  return { filters, notes };
}

/** Returns the field filters. A priority is searched as a field, by the source's own word for it. */
function fieldsOf({ fields = [], priority }: SearchArguments): SearchFilters {
  const all = [...fields, ...(priority === undefined ? [] : [{ key: "priority", value: priority }])];
  return all.length === 0 ? {} : { fields: all };
}

/** Filters relative to today. The answer reports how they were resolved. */
const BY_TODAY = /^(?:on )?(?:(?:this|last|previous|past|next|coming) )?[a-z]{3,9}$/i;

function datesOf(args: SearchArguments, { actor, now }: FilterContext, notes: string[]): SearchFilters {
  const range = (name: "after" | "before") => {
    const text = args[name];
    if (text === undefined) return undefined;
    const days = parseDays(text, now, actor.timeZone, args.dateField === "due");
    if (days !== undefined && BY_TODAY.test(text.trim()) && days.until - days.from < 2 * DAY_MS) {
      notes.push(`${name} "${cleanLine(text, 60)}" was read as ${formatDay(days.from, actor.timeZone)}.`);
    }
    if (days !== undefined) return days;
    throw new ApiError("invalid_argument", {
      field: name,
      message: `${name} "${cleanLine(text, 60)}" is not a date. Use 2026-11-17, today, monday, 7d (ago) or +7d (ahead). Today is ${formatDay(now, actor.timeZone)} (${actor.timeZone}).`,
    });
  };
  const after = range("after");
  const before = range("before");
  if (after === undefined && before === undefined) return {};
  return {
    dateField: args.dateField ?? "updated",
    ...(after !== undefined && { from: after.from }),
    ...(before !== undefined && { until: before.until }),
  };
}

async function personIds(field: string, text: string, { actor, finder }: FilterContext, notes: string[]) {
  const asked = text.trim();
  if (asked.toLowerCase() === "me") return meIds(await finder.me(actor), notes);
  const isId = asked.startsWith("ent_");
  const { found, close } = isId
    ? { found: await finder.named(actor, [asked]), close: [] }
    : await finder.byName(actor, asked, "person");
  if (found.length === 0) throw noSuchPerson(field, asked, close);
  if (found.length > 1) {
    notes.push(
      `${field} "${cleanLine(asked, 60)}" fits ${found.length}: ${found.slice(0, 5).map(printed).join(", ")}.`,
    );
  }
  return found.map(({ entityId }) => entityId);
}

function meIds({ found, claims, unlinked }: Awaited<ReturnType<EntityFinder["me"]>>, notes: string[]): string[] {
  const missing = unlinked.length > 0 ? `; no account linked at ${unlinked.join(", ")}` : "";
  const known = found.length > 0 ? [found.map(printed).join(", ")] : [];
  const claimed = claims.length > 0 ? [`by your verified address, as a claim: ${claims.map(printed).join(", ")}`] : [];
  const me = [...known, ...claimed];
  notes.push(
    me.length > 0
      ? `me = ${me.join("; ")}${missing}.`
      : `no one in what you can see is linked to you${missing}, so me finds nothing. Try your name.`,
  );
  return [...found, ...claims].map(({ entityId }) => entityId);
}

function noSuchPerson(field: string, asked: string, close: readonly NamedEntity[]): ApiError {
  const offered = close.length > 0 ? ` Close: ${close.map(printed).join(", ")}.` : "";
  return new ApiError("no_such_person", {
    field,
    message: `no one named "${cleanLine(asked, 80)}" in what you can see.${offered}`,
    hint: "Look for part of the name: kb entities search NAME",
  });
}

async function sourceFilter(text: string, context: FilterContext, notes: string[]): Promise<SearchFilters> {
  const asked = text.trim();
  // A connector that is hidden from the reader, or doesn't exist, has no items, so the answer is the same for all of
  // them.
  if (/^con_[a-z0-9]+$/.test(asked)) return { connectorIds: [asked] };
  const isThere = async (filters: SearchFilters) => (await context.probe({ filters })).total > 0;
  for (const filters of [{ sources: [asked] }, { providerIds: [asked.toLowerCase()] }]) {
    if (await isThere(filters)) return filters;
  }
  if (asked.startsWith("ent_") && (await isThere({ containers: [asked] }))) return { containers: [asked] };
  if (/^(?:kbi_|https?:)/i.test(asked)) {
    const { kbIds } = await context.lookUp(asked);
    if (kbIds.length > 0) return { kbIds };
  }
  return looseSource(asked, context, notes);
}

/**
 * Finds a place by its name in any case, or a container by its name; else throws the error that suggests similar names.
 */
async function looseSource(asked: string, context: FilterContext, notes: string[]): Promise<SearchFilters> {
  const { facets } = await context.probe({ filters: {}, facets: ["source", "provider"] });
  const sources = (facets.source ?? []).map(({ value }) => value);
  const bare = (text: string) => text.toLowerCase().replace(/(^|:)[#@]/, "$1");
  const wanted = bare(asked);
  const shown = (source: string) => cleanField(source, MAX_CHARS.source).toLowerCase();
  const meant = sources.filter((source) => {
    const name = bare(shown(source));
    return name === wanted || name.slice(name.indexOf(":") + 1) === wanted;
  });
  if (meant.length > 0) {
    notes.push(`source "${cleanLine(asked, 60)}" was read as ${meant.slice(0, 5).map(shown).join(", ")}.`);
    return { sources: meant };
  }
  const { found } = await context.finder.byName(context.actor, asked, "container");
  if (found.length > 0) {
    notes.push(`source "${cleanLine(asked, 60)}" was read as ${found.slice(0, 5).map(printed).join(", ")}.`);
    return { containers: found.map(({ entityId }) => entityId) };
  }
  const close = sources.filter((source) => isNear(shown(source), wanted)).slice(0, 5);
  const all = close.length > 0 ? close : sources.slice(0, 5);
  const offered = all.length > 0 ? ` ${close.length > 0 ? "Close" : "There are"}: ${all.map(shown).join(", ")}.` : "";
  throw new ApiError("invalid_argument", {
    field: "source",
    message: `source "${cleanLine(asked, 100)}" matches nothing you can see.${offered} Leave out source to search everywhere.`,
  });
}

/** Whether the two texts have four consecutive letters in common. */
function isNear(source: string, wanted: string): boolean {
  for (let at = 0; at + 4 <= wanted.length; at++) if (source.includes(wanted.slice(at, at + 4))) return true;
  return false;
}

function printed({ name, entityId, email }: NamedEntity): string {
  const detail = email === null ? entityId : `${cleanField(email, MAX_CHARS.person)}, ${entityId}`;
  return `${cleanField(name, MAX_CHARS.person)} (${detail})`;
}
