import * as fc from "fast-check";
import { fieldTerms } from "#text/field-terms.ts";
import type { IndexReader } from "#storage/index/read/reader.ts";
import type { SearchRequest, SearchResponse } from "#storage/search-index.ts";
import { oracleSearch } from "./oracle.ts";
import { type ItemSpec, makeDocument, makeRequest, TestIndex } from "./world.ts";

const WORDS = ["alpha", "alphabet", "beta", "gamma", "delta", "zeus", "running", "foo_bar", "ABC-9"];
/** Words with which world 2 tries to move something: rare, prefixed alike, and hidden altogether. */
const HIDDEN_WORDS = [...WORDS, "alphorn", "zeusian", "merger"];

/** aclId → lists, the same in both worlds. The viewer is ann in "everyone"; 1, 2 and 6 are open to her. */
export const ACCESSES: Record<number, string[][]> = {
  1: [["everyone"]],
  2: [["ann", "bob"], ["everyone"]],
  3: [["bob"]],
  4: [],
  5: [["ann", "everyone"], ["bob"]],
  6: [["ann"]],
  7: [["ann"], []],
};
const HIDDEN_ACCESSES = [0, 3, 4, 5, 7, 99];
const VIEWER = ["ann", "everyone"];

const text = (words: readonly string[], maxLength: number) =>
  fc.array(fc.constantFrom(...words), { maxLength }).map((chosen) => chosen.join(" "));

const visibleItem = fc.record({
  title: text(WORDS, 2),
  text: text(WORDS, 10),
  aclId: fc.constantFrom(1, 2, 6),
  updatedAt: fc.integer({ min: 0, max: 50 }),
  person: fc.constantFrom("ent_a", "ent_b"),
  status: fc.constantFrom("draft", "final"),
});
const hiddenItem = fc.record({
  title: text(HIDDEN_WORDS, 3),
  text: text(HIDDEN_WORDS, 14),
  aclId: fc.constantFrom(...HIDDEN_ACCESSES),
  updatedAt: fc.integer({ min: 0, max: 90 }),
  person: fc.constantFrom("ent_a", "ent_z"),
  status: fc.constantFrom("draft", "sealed"),
});

const query = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...WORDS) },
      {
        weight: 2,
        arbitrary: fc.constantFrom("alph*", "zeu*", "merg*", "merger", "-alphorn", "foo_bar/x", '"beta gamma"'),
      },
    ),
    { maxLength: 5 },
  )
  .map((words) => words.join(" "));

export const scenario = fc.record({
  visible: fc.array(visibleItem, { minLength: 3, maxLength: 25 }),
  hidden: fc.array(hiddenItem, { minLength: 1, maxLength: 25 }),
  compactions: fc.integer({ min: 0, max: 40 }),
  questions: fc.array(
    fc.record({
      query,
      order: fc.constantFrom("relevance" as const, "recency" as const),
      filters: fc.constantFrom(
        {},
        { people: ["ent_a"] },
        { people: ["ent_z"] },
        { sources: ["hidden:place"] },
        { fields: [{ key: "status", value: "draft" }] },
        { fields: [{ key: "status", value: "sealed" }] },
      ),
    }),
    { minLength: 4, maxLength: 10 },
  ),
});

export type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

/** Something that breaks a reader on purpose: gives another way to search over the same index. */
export type Flaw = (index: TestIndex, reader: IndexReader) => (request: SearchRequest) => SearchResponse;

const intact: Flaw = (_index, reader) => (request) => reader.search(request);

/**
 * Builds world 1 (what the viewer sees) and world 2 (the same and hidden things: near-duplicates, hidden words, another
 * workspace with the same texts) and gives the first question they answer differently, or that differs from the oracle.
 */
export function firstDifference(
  { visible, hidden, compactions, questions }: Scenario,
  flaw: Flaw = intact,
): string | undefined {
  const one = new TestIndex();
  const two = new TestIndex();
  try {
    const items = visible.map((item, i) => toSpec(`v${String(i).padStart(2, "0")}`, item, "open:place"));
    const hiddenItems = hidden.map((item, i) => toSpec(`h${String(i).padStart(2, "0")}`, item, "hidden:place"));
    for (const world of [one, two]) {
      for (const [aclId, lists] of Object.entries(ACCESSES)) world.access("w1", Number(aclId), lists);
      world.put("w1", ...items.map((item) => ({ ...item, aclId: item.kbId < "v03" ? 1 : (item.aclId ?? 1) })));
    }
    // The other workspace opens everything under the numbers that are closed here.
    for (const aclId of [1, 2, 3, 4, 5, 6, 7, 99]) two.access("w2", aclId, [["everyone"]]);
    two.put("w2", ...items, ...hiddenItems);
    two.put("w1", ...hiddenItems);
    for (const world of [one, two]) {
      world.put("w1", ...items);
      for (let i = 0; i < compactions; i++) world.writer.nextCompactionSlice();
    }
    const ask = [one, two].map((world) => flaw(world, world.openReader()));
    const workspace = {
      documents: new Map(items.map((item) => [item.kbId, makeDocument(item)])),
      accesses: new Map(Object.entries(ACCESSES).map(([aclId, lists]) => [Number(aclId), lists])),
      texts: new Map(items.map((item) => [item.kbId, [item.title ?? "", item.text ?? ""]])),
    };
    for (const question of questions) {
      const facets = ["kind", "source", "provider", "person", "month"] as const;
      const request = makeRequest({ ...question, facets, principals: VIEWER, limit: 5, isExplained: true });
      const [first, second] = ask.map((search) => withoutTime(search(request)));
      if (first !== second) return `two worlds: ${JSON.stringify(request)}`;
      const expected = JSON.stringify(roundScores(oracleSearch(workspace, request)));
      const given = JSON.stringify(roundScores(JSON.parse(first ?? "")));
      if (sorted(given) !== sorted(expected)) return `oracle: ${JSON.stringify(request)}`;
    }
    return undefined;
  } finally {
    one.close();
    two.close();
  }
}

function toSpec(
  kbId: string,
  item: Scenario["visible"][number] | Scenario["hidden"][number],
  source: string,
): ItemSpec {
  const { title, text, aclId, updatedAt, person, status } = item;
  const fields = fieldTerms({ status });
  return { kbId, title, text, aclId, more: { source, updatedAt: updatedAt * 86_400_000, people: [person], fields } };
}

function withoutTime(response: SearchResponse): string {
  return JSON.stringify({ ...response, tookMs: undefined });
}

function roundScores({ explained: _explained, ...response }: Omit<SearchResponse, "tookMs">): unknown {
  const hits = response.hits.map((hit) => ({ kbId: hit.kbId, score: hit.score.toFixed(6), group: hit.position.group }));
  return { ...response, hits };
}

/** Key order does not matter between the index and the oracle. */
function sorted(json: string): string {
  const order = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(order);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, each]) => [key, order(each)]),
    );
  };
  return JSON.stringify(order(JSON.parse(json)));
}
