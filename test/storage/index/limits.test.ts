import { afterEach, expect, test } from "vitest";
import { COMPACTION_LIMITS } from "#storage/index/write/compaction.ts";
import { makeIndexReader } from "#storage/index/read/reader.ts";
import { oracleSearch } from "./oracle.ts";
import { makeDocument, makeRequest, TestIndex } from "./world.ts";

const opened: TestIndex[] = [];
const make = (limits = COMPACTION_LIMITS) => {
  const index = new TestIndex(limits);
  index.access("w1", 1, [["everyone"]]);
  index.access("w1", 2, [["bob"]]);
  opened.push(index);
  return index;
};

afterEach(() => opened.splice(0).forEach((index) => index.close()));

test("a term of thousands of items is weighted by the visible, living ones alone", () => {
  const index = make();
  const documents = Array.from({ length: 5_300 }, (_, i) => {
    const text = `common ${i % 9 === 0 ? "rare" : ""} ${"pad ".repeat(i % 7)}`;
    return makeDocument({ kbId: `kbi_${i}`, text, aclId: i % 10 === 0 ? 2 : 1 });
  });
  index.transaction(() => index.writer.bulk("w1", documents));
  // Dead copies stay in the posting lists.
  const again = documents.slice(0, 4_000);
  index.transaction(() => index.writer.bulk("w1", again));
  const workspace = {
    documents: new Map(documents.map((document) => [document.kbId, document])),
    accesses: new Map([
      [1, [["everyone"]]],
      [2, [["bob"]]],
    ]),
    texts: new Map<string, string[]>(),
  };
  const request = makeRequest({ query: "common rare", limit: 50 });
  const { tookMs: _, ...actual } = index.openReader().search(request);
  const expected = oracleSearch(workspace, request);
  expect(actual.hits.map((hit) => hit.kbId)).toEqual(expected.hits.map((hit) => hit.kbId));
  actual.hits.forEach((hit, i) => expect(hit.score).toBeCloseTo(expected.hits[i]?.score ?? Number.NaN, 9));
});

test("a search that runs out of time says so and leaves nothing behind", () => {
  const index = make();
  index.put("w1", { kbId: "a", text: "alpha beta gamma" }, { kbId: "b", text: "alpha beta" });
  let now = 0;
  const reader = makeIndexReader(index.db, { readText: () => undefined, now: () => (now += 30) });
  const request = makeRequest({ query: "alpha beta gamma" });
  expect(() => reader.search({ ...request, deadlineMs: 100 })).toThrow(
    expect.objectContaining({ code: "search_timeout" }),
  );
  expect(reader.search({ ...request, deadlineMs: 100_000 }).hits.map((hit) => hit.kbId)).toEqual(["a", "b"]);
});

test("a question is not given up for what it took to catch up with the changes before it", () => {
  const index = make();
  index.put("w1", { kbId: "a", text: "alpha beta" });
  let now = 0;
  // Reading the changes takes a minute, everything else no time.
  const db = new Proxy(index.db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (name === "prepare" && String(args[0]).includes("FROM index_delta")) now += 60_000;
        return Reflect.apply(value, target, args);
      };
    },
  });
  const reader = makeIndexReader(db, { readText: () => undefined, now: () => now });
  expect(reader.search(makeRequest({ query: "alpha beta" })).hits.map((hit) => hit.kbId)).toEqual(["a"]);
});

test("a prefix stands for at most 256 visible words and says when there were more", () => {
  const index = make();
  const spec = (i: number, aclId: number) => ({
    kbId: `kbi_${aclId}_${i}`,
    text: `zq${String(i).padStart(4, "0")}`,
    aclId,
  });
  index.put(
    "w1",
    ...Array.from({ length: 256 }, (_, i) => spec(i, 1)),
    ...Array.from({ length: 300 }, (_, i) => spec(i + 500, 2)),
  );
  const reader = index.openReader();
  const ask = () => reader.search(makeRequest({ query: "zq*", limit: 1 }));
  expect([ask().total, ask().isTotalExact]).toEqual([256, true]);
  index.put("w1", spec(999, 1));
  expect([ask().total, ask().isTotalExact]).toEqual([256, false]);
});

test("at most 5,000 texts are read for a phrase, best first, and the total says that it is not exact", () => {
  const index = make();
  const documents = Array.from({ length: 5_200 }, (_, i) => makeDocument({ kbId: `kbi_${i}`, text: "late fee" }));
  index.transaction(() => index.writer.bulk("w1", documents));
  let reads = 0;
  const reader = makeIndexReader(index.db, {
    readText: () => {
      reads++;
      return ["a late fee"];
    },
  });
  const response = reader.search(makeRequest({ query: '"late fee"', deadlineMs: 60_000 }));
  expect([reads, response.total, response.isTotalExact]).toEqual([5_000, 5_000, false]);
});

test("a phrase of words that stand in many long texts is looked for as long as half of the time lasts", () => {
  const index = make();
  const documents = Array.from({ length: 50 }, (_, i) => makeDocument({ kbId: `kbi_${i}`, text: "late fee" }));
  index.transaction(() => index.writer.bulk("w1", documents));
  let now = 0;
  const readText = () => {
    now += 100;
    return ["a late fee"];
  };
  const reader = makeIndexReader(index.db, { readText, now: () => now });
  const response = reader.search(makeRequest({ query: '"late fee"', deadlineMs: 2_000 }));
  expect([response.total, response.hits.length, response.isTotalExact]).toEqual([11, 10, false]);
  // What was found is not thrown away for items that have some of the words.
  const mixed = reader.search(makeRequest({ query: 'late fee "late fee"', deadlineMs: 1_000 }));
  expect([mixed.total, mixed.match]).toEqual([6, "all"]);
});

test("words that occur in nothing visible are named as written; hidden ones are among them", () => {
  const index = make();
  index.put("w1", { kbId: "a", text: "alpha" }, { kbId: "b", text: "merger", aclId: 2 });
  const { unknownWords } = index.openReader().search(makeRequest({ query: 'Alpha Merger "late fee" Nowhere*' }));
  expect(unknownWords).toEqual(["Merger", "late fee", "Nowhere*"]);
});

test("an empty workspace and one full of hidden things answer alike", () => {
  const index = make();
  index.put("w1", { kbId: "b", text: "alpha foo_bar", aclId: 2 });
  const reader = index.openReader();
  for (const query of ["alpha", "alpha beta foo_bar", "", "al*", '"alpha beta"']) {
    for (const order of ["relevance", "recency", "due"] as const) {
      const request = makeRequest({ query, order, facets: ["kind"] });
      const answer = { ...reader.search(request), tookMs: 0 };
      expect({ ...reader.search({ ...request, workspaceId: "nowhere" }), tookMs: 0 }).toEqual(answer);
    }
  }
});

test("months are those of the viewer's zone", () => {
  const index = make();
  const at = (kbId: string, time: string) => ({ kbId, text: "x", more: { updatedAt: Date.parse(time) } });
  index.put("w1", at("a", "2026-10-31T22:59:59Z"), at("b", "2026-10-31T23:00:00Z"), at("c", "2026-11-12T00:00:00Z"));
  // Longer ago than days are remembered.
  index.put("w1", at("d", "1500-03-31T23:30:00Z"), at("e", "1500-03-02T00:00:00Z"));
  const reader = index.openReader();
  const months = (timeZone: string) => reader.search(makeRequest({ facets: ["month"], timeZone })).facets.month;
  // The second time each zone has its months at hand.
  for (const _ of [1, 2]) {
    expect(months("Europe/Berlin")).toEqual([
      { value: "2026-11", count: 2 },
      { value: "1500-03", count: 1 },
      { value: "1500-04", count: 1 },
      { value: "2026-10", count: 1 },
    ]);
    expect(months("UTC")).toEqual([
      { value: "1500-03", count: 2 },
      { value: "2026-10", count: 2 },
      { value: "2026-11", count: 1 },
    ]);
  }
});
