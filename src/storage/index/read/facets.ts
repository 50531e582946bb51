import type { FacetField, SearchResponse } from "#storage/search-index.ts";
import { KIND_CODES, STATUS_CODES } from "#storage/index/columns.ts";
import type { SegmentView } from "#storage/index/segment-view.ts";

/** Most values listed of one field. */
const MAX_VALUES = 1_000;

/** Counts values of fields over matches. */
export class FacetCounter {
  readonly #fields: readonly FacetField[];
  readonly #segments: readonly SegmentView[];
  readonly #monthOf: (time: number) => string;
  readonly #counts = new Map<FacetField, Map<string, number>>();

  constructor(segments: readonly SegmentView[], fields: readonly FacetField[], timeZone: string) {
    this.#segments = segments;
    this.#fields = fields;
    this.#monthOf = makeMonths(timeZone);
    for (const field of fields) this.#counts.set(field, new Map());
  }

  accept(segment: number, id: number): void {
    const view = this.#segments[segment];
    if (view === undefined) return;
    for (const field of this.#fields) {
      const counts = this.#counts.get(field);
      if (counts === undefined) continue;
      for (const value of this.#valuesOf(field, view, id)) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }

  /** Most frequent first, then by value. */
  result(): SearchResponse["facets"] {
    const facets: SearchResponse["facets"] = {};
    for (const [field, counts] of this.#counts) {
      const values = [...counts].map(([value, count]) => ({ value, count }));
      values.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
      facets[field] = values.slice(0, MAX_VALUES);
    }
    return facets;
  }

  #valuesOf(field: FacetField, { columns }: SegmentView, id: number): string[] {
    const origin = columns.origins.values[columns.origins.codes[id] ?? 0];
    switch (field) {
      case "kind":
        return present(KIND_CODES[columns.kinds[id] ?? 0]);
      case "status":
        return present(STATUS_CODES[columns.statuses[id] ?? 255]);
      case "source":
        return present(origin?.source);
      case "provider":
        return present(origin?.providerId);
      case "month": {
        const time = columns.updatedAt[id] ?? Number.NaN;
        return Number.isNaN(time) ? [] : [this.#monthOf(time)];
      }
      case "person": {
        const { starts, codes, values } = columns.people;
        const codesOf = codes.subarray(starts[id] ?? 0, starts[id + 1] ?? 0);
        return Array.from(codesOf, (code) => values[code] ?? "");
      }
    }
  }
}

function present(value: string | undefined): string[] {
  return value === undefined ? [] : [value];
}

const DAY_MS = 86_400_000;
/** Zones change their offset on whole quarters of an hour. */
const QUARTER_MS = 900_000;

/**
 * `2026-11` of a time in a zone. Formatting is slow, so each UTC day is formatted at its two ends only; the few days in
 * which a month begins are formatted by the quarter of an hour.
 */
function makeMonths(timeZone: string): (time: number) => string {
  let format: Intl.DateTimeFormat | undefined;
  const formatted = (time: number) => {
    format ??= new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit" });
    const parts = format.formatToParts(time);
    const part = (type: string) => parts.find((each) => each.type === type)?.value ?? "";
    return `${part("year")}-${part("month")}`;
  };
  const days = new Map<number, string | undefined>();
  const quarters = new Map<number, string>();
  const monthOfDay = (day: number) => {
    const first = formatted(day * DAY_MS);
    return formatted((day + 1) * DAY_MS - 1) === first ? first : undefined;
  };
  return (time) => {
    const day = Math.floor(time / DAY_MS);
    if (!days.has(day)) days.set(day, monthOfDay(day));
    const month = days.get(day);
    if (month !== undefined) return month;
    const quarter = Math.floor(time / QUARTER_MS);
    let known = quarters.get(quarter);
    if (known === undefined) quarters.set(quarter, (known = formatted(quarter * QUARTER_MS)));
    return known;
  };
}
