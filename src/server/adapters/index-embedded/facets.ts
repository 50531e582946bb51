import type { FacetField, SearchResponse } from "#server/ports/search-index.ts";
import { KIND_CODES, STATUS_CODES } from "./columns.ts";
import type { SegmentView } from "./segment-view.ts";

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

const HOUR_MS = 3_600_000;

/** `2026-11` of a time in a zone. Formatting is slow, so each hour is formatted once: zones change on whole quarters. */
function makeMonths(timeZone: string): (time: number) => string {
  let format: Intl.DateTimeFormat | undefined;
  const known = new Map<number, string>();
  const quarter = HOUR_MS / 4;
  return (time) => {
    const key = Math.floor(time / quarter);
    let month = known.get(key);
    if (month === undefined) {
      format ??= new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit" });
      const parts = format.formatToParts(time);
      const part = (type: string) => parts.find((each) => each.type === type)?.value ?? "";
      month = `${part("year")}-${part("month")}`;
      known.set(key, month);
    }
    return month;
  };
}
