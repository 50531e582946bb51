import * as fc from "fast-check";
import { ID_ALPHABET } from "#api/common.ts";
import { FIELD_NAMES, type FieldName, type FieldType, perField } from "#api/item-fields.ts";
import type { FactValues } from "#core/item-facts.ts";
import type { SearchOutcome } from "#server/search/types.ts";
import type { ShownHit } from "#storage/search-index.ts";
import type { ItemRecord } from "#storage/item-record.ts";
import { hostileText } from "../../api/hostile-text.ts";

const id = (prefix: string) =>
  fc
    .array(fc.constantFrom(...ID_ALPHABET), { minLength: 16, maxLength: 16 })
    .map((chars) => `${prefix}_${chars.join("")}`);
const time = fc.integer({ min: Date.parse("1990-01-01"), max: Date.parse("2040-01-01") });
const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const person = fc.record({ name: hostileText, entityId: nullable(id("ent")), claimed: fc.boolean() });

/** The value of a field by its type, as an attacker writes it. */
const VALUE: { [T in FieldType]: fc.Arbitrary<FactValues[T]> } = {
  kind: fc.constantFrom("task", "file", "page", "message"),
  title: hostileText,
  status: fc.constantFrom(null, "open", "done"),
  text: nullable(hostileText),
  name: nullable(hostileText),
  path: fc.array(hostileText, { maxLength: 3 }),
  texts: fc.array(hostileText, { maxLength: 3 }),
  date: nullable(time),
  number: nullable(fc.integer()),
  person: nullable(person),
  people: fc.array(person, { maxLength: 2 }),
  record: fc.dictionary(
    fc.oneof(hostileText, fc.constantFrom("Due date", "pages", "__proto__", "kbId")),
    fc.oneof(hostileText, fc.double(), fc.boolean(), fc.array(hostileText, { maxLength: 3 })),
    { maxKeys: 10 },
  ),
};

/** Items whose every value was written by an attacker. */
export const hostileItem: fc.Arbitrary<ItemRecord> = fc.record({
  kbId: id("kbi"),
  connectorId: id("con"),
  externalId: hostileText,
  parentExternalId: fc.constant(null),
  providerId: fc.constantFrom("push", "filesystem"),
  source: hostileText,
  ...perField<FieldName, typeof VALUE>(FIELD_NAMES, (_name, type) => VALUE[type]),
  lineAnchor: fc.constant(null),
  ownClockAt: fc.constant(null),
  url: nullable(
    fc.oneof(
      hostileText,
      hostileText.map((tail) => `https://a.test/${tail}`),
    ),
  ),
  version: fc.constant(null),
  textHash: fc.constant(null),
  textChars: fc.constant(0),
  sections: fc.array(
    fc.record({ name: hostileText, level: fc.integer({ min: 1, max: 3 }), start: fc.integer({ min: 0, max: 9000 }) }),
    { maxLength: 4 },
  ),
  indexedAt: time,
  formerSince: fc.option(time),
  indexState: fc.constant("indexed"),
  textReason: fc.constantFrom(null, "encrypted"),
  textMessage: fc.constant(null),
  aclId: fc.constant(1),
});

const hostileEntry: fc.Arbitrary<ShownHit> = fc.record({
  item: hostileItem,
  passages: fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: 100_000 }),
      section: hostileText,
      text: fc.oneof(
        hostileText,
        fc.array(hostileText, { minLength: 5, maxLength: 30 }).map((parts) => parts.join(" ")),
      ),
      highlights: fc.constant([]),
    }),
    { maxLength: 3 },
  ),
});

export const NOW = Date.parse("2026-11-21T09:20:00Z");

export const hostileOutcome: fc.Arbitrary<SearchOutcome> = fc
  .record({
    entries: fc.array(hostileEntry, { maxLength: 6 }),
    more: fc.integer({ min: 0, max: 40 }),
    isTotalExact: fc.boolean(),
    match: fc.constantFrom<"all" | "any">("all", "any"),
    order: fc.constantFrom<"relevance" | "recency" | "due">("relevance", "recency", "due"),
    notes: fc.array(fc.constantFrom("no item has all words.", "me = push anna."), { maxLength: 2 }),
  })
  .map(({ more, ...rest }) => ({
    ...rest,
    facets: {},
    total: rest.entries.length + more,
    noteFault: () => undefined,
    cursorAfter: (shown) =>
      shown === 0 || (shown === rest.entries.length && more === 0) ? undefined : `cursor-${shown}`,
    asOf: NOW,
    tookMs: 1,
  }));
