import type { FacetField, SearchResponse } from "#storage/search-index.ts";
import { type Columns, KIND_CODES, STATUS_CODES } from "#storage/index/columns.ts";
import type { Counts, Months } from "./months.ts";
import type { SegmentView } from "#storage/index/segment-view.ts";

/** Limit of values that are listed per field. */
const MAX_VALUES = 1_000;

/** Counts field values over matches: first by the codes of a segment, then, once per segment, by value. */
export class FacetCounter {
  readonly #fields: readonly FacetField[];
  readonly #segments: readonly SegmentView[];
  readonly #months: Months;
  readonly #counts = new Map<FacetField, Map<string, number>>();

  constructor(segments: readonly SegmentView[], fields: readonly FacetField[], months: Months) {
    this.#fields = fields;
    this.#segments = segments;
    this.#months = months;
    for (const field of fields) this.#counts.set(field, new Map());
  }

  /** Counts the first `total` matches of a segment. */
  accept(segment: number, ids: Uint16Array, total: number): void {
    const columns = this.#segments[segment]?.columns;
    if (columns === undefined || total === 0) return;
    const matches = ids.subarray(0, total);
    const origins = needsOrigins(this.#fields)
      ? countCodes(columns.origins.codes, columns.origins.values.length, matches)
      : NONE;
    for (const field of this.#fields) this.#acceptField(field, columns, matches, origins);
  }

  /** Returns the values of each field, the most frequent first, then by value. */
  result(): SearchResponse["facets"] {
    const facets: SearchResponse["facets"] = {};
    for (const [field, counts] of this.#counts) {
      const values = [...counts].map(([value, count]) => ({ value, count }));
      values.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
      facets[field] = values.slice(0, MAX_VALUES);
    }
    return facets;
  }

  #acceptField(field: FacetField, columns: Columns, ids: Uint16Array, origins: Counts): void {
    switch (field) {
      case "kind":
        return this.#add(field, countCodes(columns.kinds, 256, ids), (code) => KIND_CODES[code]);
      case "status":
        return this.#add(field, countCodes(columns.statuses, 256, ids), (code) => STATUS_CODES[code]);
      case "source":
        return this.#add(field, origins, (code) => columns.origins.values[code]?.source);
      case "provider":
        return this.#add(field, origins, (code) => columns.origins.values[code]?.providerId);
      case "month":
        return this.#add(field, this.#months.count(columns.updatedAt, ids), (code) => this.#months.nameOf(code));
      case "person":
        return this.#add(field, countPeople(columns, ids), (code) => columns.people.values[code] ?? "");
    }
  }

  /** Adds the counts of a field. Documents without a value aren't counted. */
  #add(field: FacetField, counts: Counts, valueOf: (code: number) => string | undefined): void {
    const known = this.#counts.get(field);
    if (known === undefined) return;
    for (let code = 0; code < counts.length; code++) {
      const count = counts[code] ?? 0;
      const value = count === 0 ? undefined : valueOf(code);
      if (value !== undefined) known.set(value, (known.get(value) ?? 0) + count);
    }
  }
}

const NONE: Counts = new Uint32Array(0);

function needsOrigins(fields: readonly FacetField[]): boolean {
  return fields.includes("source") || fields.includes("provider");
}

function countCodes(codes: Uint8Array | Uint32Array, size: number, ids: Uint16Array): Counts {
  const counts = new Uint32Array(size);
  for (let i = 0; i < ids.length; i++) {
    const code = codes[ids[i] ?? 0] ?? 0;
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
}

function countPeople({ people: { starts, codes, values } }: Columns, ids: Uint16Array): Counts {
  const counts = new Uint32Array(values.length);
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] ?? 0;
    const end = starts[id + 1] ?? 0;
    for (let at = starts[id] ?? 0; at < end; at++) {
      const code = codes[at] ?? 0;
      counts[code] = (counts[code] ?? 0) + 1;
    }
  }
  return counts;
}
