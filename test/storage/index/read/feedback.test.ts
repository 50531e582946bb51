import { afterAll, beforeAll, expect, test } from "vitest";
import { makeRanking } from "#text/factors.ts";
import type { HitPosition, SearchRequest } from "#storage/search-index.ts";
import { makeRequest, TestIndex } from "../world.ts";

const index = new TestIndex();
afterAll(() => index.close());

// Of three words no item has more than two. The best ones are about a flutter; one more says so without the question's words.
beforeAll(() => {
  index.access("w1", 1, [["everyone"]]);
  index.access("w1", 2, [["bob"]]);
  const tea = "tea ".repeat(20);
  const put = (kbId: string, text: string, aclId = 1) => {
    index.put("w1", { kbId, title: "Note", text, aclId });
    index.texts.set(`w1 ${kbId}`, ["Note", "labels", text]);
  };
  for (let i = 0; i < 4; i++) put(`kbi_best${i}`, `wing panel ${i} flutter in a shock tunnel ${tea}`);
  for (let i = 0; i < 12; i++) put(`kbi_some${i}`, `wing panel ${tea} ${tea} ${i}`);
  put("kbi_told", `wing panel flutter shock ${tea} ${tea} ${tea}`);
  put("kbi_other", `flutter in a shock tunnel, and flutter again ${tea}`);
  for (let i = 0; i < 30; i++) put(`kbi_hid${i}`, "wing panel soup ladle", 2);
  for (let i = 0; i < 60; i++) put(`kbi_far${i}`, `${tea} soup ${i}`);
});

const question: Partial<SearchRequest> = { query: "wing panel supersonic", limit: 20, facets: ["kind"] };
const ids = ({ hits }: { hits: readonly { kbId: string }[] }) => hits.map(({ kbId }) => kbId.slice(4));

test("what shares the words of the first hits rises, and nothing else changes", () => {
  const plain = index.openReader({ ranking: makeRanking(["feedback"]) }).search(makeRequest(question));
  const fed = index.openReader().search(makeRequest({ ...question, isExplained: true }));
  expect([plain.hasFeedback, fed.hasFeedback]).toEqual([false, true]);
  expect(ids(plain).indexOf("told")).toBeGreaterThan(14);
  expect(ids(fed).indexOf("told")).toBe(4);
  // The first hit stays, and what has none of the question's words doesn't come in.
  expect(ids(fed)[0]).toBe(ids(plain)[0]);
  expect(ids(fed)).not.toContain("other");
  const { hits: _1, tookMs: _2, hasFeedback: _3, ...same } = plain;
  expect(fed).toMatchObject(same);
  expect(fed.explained?.statistics.feedback.toSorted()).toEqual(["flutter", "shock", "tunnel"]);
});

test.for([
  ["a question of two words", { query: "wing panel" }],
  ["a phrase", { query: '"wing panel" supersonic flight' }],
  ["an order by date", { query: "wing panel tea", order: "recency" }],
  ["totals alone", { query: "wing panel supersonic", limit: 0 }],
] as const)("%s is ranked as it is", ([, change]) => {
  expect(index.openReader().search(makeRequest(change)).hasFeedback).toBe(false);
});

test.for([1, 3, 7])("pages of %i give the same hits as one page, as page 1 was ranked", (limit) => {
  const reader = index.openReader();
  const whole = reader.search(makeRequest(question));
  const seen: string[] = [];
  let after: SearchRequest["after"];
  for (let more = true; more;) {
    const page = reader.search(makeRequest({ ...question, limit, ...(after && { after }) }));
    expect([page.total, page.hasFeedback]).toEqual([whole.total, true]);
    seen.push(...ids(page));
    const { position } = page.hits.at(-1) ?? { position: start };
    after = { position, match: page.match, hasFeedback: page.hasFeedback };
    more = page.hasMore;
  }
  expect(seen).toEqual(ids(whole));
});

test("a later page has no feedback where page 1 had none", () => {
  const reader = index.openReader();
  const after = { position: start, match: "any" } as const;
  expect(reader.search(makeRequest({ ...question, after })).hasFeedback).toBe(false);
});

test("a search that has used half of its time is ranked as it is instead of being stopped", () => {
  let time = 0;
  const options = { now: () => time++ };
  const plain = index.openReader({ ...options, ranking: makeRanking(["feedback"]) }).search(makeRequest(question));
  const request = makeRequest({ ...question, deadlineMs: plain.tookMs });
  const { tookMs: _1, ...ranked } = index.openReader(options).search(request);
  expect({ ...ranked, tookMs: plain.tookMs }).toEqual(plain);
});

test("one item alone has the score that it has among the others", () => {
  const reader = index.openReader();
  const { hits } = reader.search(makeRequest(question));
  const told = hits.find(({ kbId }) => kbId === "kbi_told");
  const after = { position: start, match: "any", hasFeedback: true } as const;
  const parsed = { units: ["wing", "panel", "superson"].map(word), excluded: [], isCut: false };
  const only = reader.searchIn(makeRequest({ ...question, limit: 1, after }), parsed, "kbi_told");
  expect(only.hits).toEqual([told]);
});

const start: HitPosition = { group: 1, value: Infinity, kbId: "" };
const word = (term: string) => ({ type: "word" as const, written: term, term, parts: [] });
