import { termsOfPair } from "#text/field-terms.ts";
import type { SearchFilters } from "#storage/search-index.ts";
import { type DateColumn, KIND_CODES, type Origin, STATUS_CODES } from "#storage/index/columns.ts";
import { bitAt, MAX_WORDS } from "#storage/index/bits.ts";
import { addTo, type PostingList } from "#storage/index/posting-list.ts";
import type { SegmentView } from "#storage/index/segment-view.ts";
import type { Filter } from "./search-context.ts";
import type { TermReader } from "./term-lists.ts";
import { ASSIGNEE_TERM, CONTAINER_TERM, FIELD_TERM, PERSON_TERM } from "#storage/index/vocabulary.ts";
import type { WorkspaceView } from "./workspace-view.ts";

/** The filter for a value that nothing visible has: no document needs to be checked. */
export const NOTHING: Filter = () => false;

export const DATE_COLUMNS = { updated: "updatedAt", created: "createdAt", due: "dueAt" } as const satisfies Record<
  string,
  DateColumn
>;

/**
 * Makes the filter of each segment; undefined for segments without a filter. Filters are ANDed, the values of one
 * filter are ORed.
 */
export function makeFilters(view: WorkspaceView, reader: TermReader, filters: SearchFilters): (Filter | undefined)[] {
  const members = [
    listedTerms(reader, PERSON_TERM, filters.people),
    listedTerms(reader, ASSIGNEE_TERM, filters.assignees),
    listedTerms(reader, CONTAINER_TERM, filters.containers),
    ...(filters.fields ?? []).map((pair) => listedTerms(reader, FIELD_TERM, termsOfPair(pair))),
  ].filter((lists) => lists !== undefined);
  // This depends on visible items only. A value that only hidden items have takes as long as a value that no item has.
  const isHopeless = members.some((lists) => !lists.some((list) => reader.isInSight(list)));
  if (isHopeless) return view.segments.map(() => NOTHING);
  const places = filters.kbIds?.map((kbId) => view.find(kbId));
  return view.segments.map((segment, s) => {
    const checks = columnChecks(segment, filters);
    for (const lists of members) checks.push(memberCheck(lists.map((list) => list.lists[s])));
    if (places !== undefined) {
      const ids = new Set(places.flatMap((place) => (place?.segment === segment ? [place.id] : [])));
      checks.push((id) => ids.has(id));
    }
    return allOf(checks);
  });
}

/** Combines checks with AND; undefined if there are none. */
export function allOf(checks: readonly Filter[]): Filter | undefined {
  const [first, ...rest] = checks;
  if (first === undefined || rest.length === 0) return first;
  return (id) => checks.every((check) => check(id));
}

/**
 * Checks whether the document is in one of these lists. The lists are merged once, so that each check is one memory
 * access.
 */
export function memberCheck(lists: readonly (PostingList | undefined)[]): Filter {
  const set = new Uint32Array(MAX_WORDS);
  for (const list of lists) if (list !== undefined) addTo(set, list);
  return (id) => bitAt(set, id) === 1;
}

function listedTerms(reader: TermReader, prefix: string, ids: readonly string[] | undefined) {
  return ids?.map((id) => reader.lists(prefix + id));
}

function columnChecks({ columns }: SegmentView, filters: SearchFilters): Filter[] {
  const checks: Filter[] = [];
  if (filters.kinds !== undefined) {
    const wanted = KIND_CODES.map((kind) => filters.kinds?.includes(kind) === true);
    const { kinds } = columns;
    checks.push((id) => wanted[kinds[id] ?? 0] === true);
  }
  if (filters.status !== undefined) {
    const wanted = STATUS_CODES.indexOf(filters.status);
    const { statuses } = columns;
    checks.push((id) => statuses[id] === wanted);
  }
  const originCheck = makeOriginCheck(filters);
  if (originCheck !== undefined) {
    const { codes, values } = columns.origins;
    const wanted = values.map(originCheck);
    checks.push((id) => wanted[codes[id] ?? 0] === true);
  }
  if (filters.from !== undefined || filters.until !== undefined) {
    const dates = columns[DATE_COLUMNS[filters.dateField ?? "updated"]];
    const { from = -Infinity, until = Infinity } = filters;
    // An unknown date is NaN, for which every comparison is false.
    checks.push((id) => (dates[id] ?? Number.NaN) >= from && (dates[id] ?? Number.NaN) < until);
  }
  return checks;
}

function makeOriginCheck(filters: SearchFilters): ((origin: Origin) => boolean) | undefined {
  const { sources, providerIds, connectorIds } = filters;
  if (sources === undefined && providerIds === undefined && connectorIds === undefined) return undefined;
  return (origin) =>
    (sources?.includes(origin.source) ?? true) &&
    (providerIds?.includes(origin.providerId) ?? true) &&
    (connectorIds?.includes(origin.connectorId) ?? true);
}
