import { cleanLine, cleanMarked, cut, MAX_CHARS, permalinkOf } from "#api/clean.ts";
import { outsideUrl } from "#api/own-url.ts";
import type { FieldValue } from "#api/common.ts";
import type { Explanation, SearchAnswer, SearchResult } from "#api/search.ts";
import { isoOf, isoOrNull } from "#core/instant.ts";
import { factsOnWire } from "#core/item-facts.ts";
import { FACTORS } from "#text/factors.ts";
import type { SearchStatistics, ShownHit } from "#storage/search-index.ts";
import { showHit } from "#storage/show-hit.ts";
import type { SearchGroup, SearchOutcome } from "./types.ts";

/** Converts an answer to its REST form, for `/api/connectors/search` and `kb search --json`. */
export function toSearchAnswer(outcome: SearchOutcome, { baseUrl }: { baseUrl: string }): SearchAnswer {
  const facets = Object.entries(outcome.facets);
  return {
    results: outcome.entries.map((entry) => showHit(entry, (one) => toResult(one, baseUrl), outcome.noteFault)),
    total: outcome.total,
    totalIsExact: outcome.isTotalExact,
    returned: outcome.entries.length,
    nextCursor: outcome.cursorAfter(outcome.entries.length) ?? null,
    asOf: isoOf(outcome.asOf),
    match: outcome.match,
    order: outcome.order,
    ...(facets.length > 0 && {
      facets: Object.fromEntries(facets.map(([by, groups]) => [by, groups.map(toFacetValue)])),
    }),
    notes: [...outcome.notes],
    tookMs: outcome.tookMs,
    ...(outcome.live && { live: outcome.live }),
    ...(outcome.statistics && { ranking: toRanking(outcome.statistics) }),
  };
}

function toFacetValue({ value, entityId, ...counted }: SearchGroup) {
  return entityId === undefined ? { value, ...counted } : { value: entityId, name: value, ...counted };
}

function toRanking({ items, averageLength, feedback }: SearchStatistics): NonNullable<SearchAnswer["ranking"]> {
  const factors = Object.entries(FACTORS).map(([factor, { weight, does }]) => ({ factor, weight, does }));
  return { items, averageLength, feedback: feedback.map((term) => cleanLine(term, MAX_CHARS.title)), factors };
}

function toExplanation({ terms, ...explanation }: NonNullable<ShownHit["explanation"]>): Explanation {
  const words = terms.map(({ written, term, df, weight, frequency, score }) => {
    return { word: cleanLine(written, MAX_CHARS.title), term, items: df, weight, frequency, score };
  });
  return { ...explanation, words };
}

function toResult({ item, passages, explanation }: ShownHit, baseUrl: string): SearchResult {
  const [passage] = passages;
  const { text, highlights } = cleanMarked(passage?.text ?? "", passage?.highlights ?? []);
  return {
    kbId: item.kbId,
    providerId: item.providerId,
    source: item.source,
    url: outsideUrl(item.url, baseUrl) ?? permalinkOf(baseUrl, item.kbId),
    ...factsOnWire(item, "result"),
    title: cleanLine(item.title, MAX_CHARS.title),
    snippet: text,
    highlights,
    indexedAt: isoOf(item.indexedAt),
    textAsOf: isoOrNull(item.formerSince),
    section: passage?.section ?? null,
    sectionUrl: outsideUrl(passage?.url, baseUrl) ?? null,
    fields: Object.fromEntries(Object.entries(item.fields).map(([name, value]) => [name, cutValue(value)])),
    ...(explanation && { explanation: toExplanation(explanation) }),
  };
}

/** A hit doesn't contain whole texts. The file's record has them. */
const MAX_FIELD_CHARS = 1_000;
const MAX_FIELD_VALUES = 50;

function cutValue(value: FieldValue): FieldValue {
  if (typeof value === "string") return cut(value, MAX_FIELD_CHARS);
  return typeof value === "object" ? value.slice(0, MAX_FIELD_VALUES) : value;
}
