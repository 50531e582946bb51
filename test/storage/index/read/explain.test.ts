import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { makeExplainer } from "#storage/index/read/explain.ts";
import { COMPACTION_LIMITS } from "#storage/index/write/compaction.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { type FactorName, FACTORS, makeRanking } from "#text/factors.ts";
import type { ShownItem } from "#storage/item-record.ts";
import { facts } from "../../facts.ts";
import { makeRandom } from "../../../bench/search-corpus.ts";
import { runs } from "../../../runs.ts";
import { makeDocument, makeRequest, TestIndex } from "../world.ts";

const WORDS = ["alpha", "alphabet", "beta", "running", "run", "foo_bar", "common", "rare"];
const index = new TestIndex(COMPACTION_LIMITS);
afterAll(() => index.close());

const random = makeRandom(11);
const some = (most: number) =>
  Array.from({ length: Math.floor(random() * most) }, () => WORDS[Math.floor(random() ** 2 * WORDS.length)] ?? "");
const items = Array.from({ length: 300 }, (_, i) => {
  const title = some(4).join(" ");
  const labels = some(3);
  const path = some(3);
  // Some beyond the most that a weight can be.
  const text = [...some(40), `topic${i % 17}`, ...Array<string>(i % 40 === 0 ? 400 : 0).fill("common")].join(" ");
  return { kbId: `kbi_${i}`, title, labels, path, text, aclId: i % 3 === 0 ? 2 : 1 };
});
index.access("w1", 1, [["everyone"]]);
index.access("w1", 2, [["bob"]]);
const documents = items.map((item) => ({ ...makeDocument(item), text: analyzeDocument(item) }));
index.transaction(() => index.writer.bulk("w1", documents.slice(0, 260)));
for (const document of documents.slice(250)) index.apply("w1", [{ type: "upsert", document }]);
for (const { kbId, title, text } of items) index.texts.set(`w1 ${kbId}`, [title, text]);
const reader = index.openReader();

const ABOUT = {
  providerId: "push",
  source: "push:x",
  url: null,
  indexedAt: 0,
  textReason: null,
  formerSince: null,
};

function shown(kbId: string): ShownItem {
  const { title, labels, path } = items.find((item) => item.kbId === kbId) ?? { title: "", labels: [], path: [] };
  return { ...facts({ kind: "file", title, labels, path }), ...ABOUT, kbId };
}

const query = fc
  .array(fc.constantFrom(...WORDS, "alph*", '"alpha beta"', '"running"', "foo_bar/x", "-rare", "absent"), {
    minLength: 1,
    maxLength: 6,
  })
  .map((words) => words.join(" "));

test("words and factors sum up to the score of every hit, and the fields to the weight", () => {
  let explained = 0;
  let feedback = 0;
  fc.assert(
    fc.property(query, fc.constantFrom("relevance" as const, "recency" as const), (words, order) => {
      const request = makeRequest({ query: words, order, limit: 50 });
      const { explained: scores, hits, ...answer } = reader.search({ ...request, isExplained: true });
      // Nothing else changes by asking.
      expect({ ...answer, hits, tookMs: 0 }).toEqual({ ...reader.search(request), tookMs: 0 });
      if (scores === undefined) throw new Error("The scores were not explained.");
      const explain = makeExplainer(hits, scores);
      expect(scores.statistics.items).toBe(200);
      for (const { kbId, score, position } of hits) {
        const { terms, factors, ...told } = explain(shown(kbId), position);
        expect(told).toMatchObject({ score, group: position.group === 1 ? "all" : "some" });
        // The same sum, to the last bit, but for what feedback adds to it.
        const own = terms.reduce((sum, term) => sum + term.score, 0);
        const fed = factors.find(({ factor }) => factor === "feedback");
        expect(fed !== undefined).toBe(answer.hasFeedback);
        if (fed === undefined) expect(own).toBe(score);
        else expect(own + fed.score).toBeCloseTo(score, 9);
        expect(fed?.score ?? 0).toBeGreaterThanOrEqual(0);
        feedback += Math.sign(fed?.score ?? 0);
        expect(factors.reduce((sum, factor) => sum + factor.score, 0)).toBeCloseTo(score, 9);
        for (const { frequency, weight } of terms) {
          expect(4 * frequency.title + 2 * frequency.place + frequency.text).toBe(weight);
        }
        explained += terms.length;
      }
    }),
    { numRuns: runs(60) },
  );
  expect(explained).toBeGreaterThan(1_000);
  expect(feedback).toBeGreaterThan(0);
});

test("a word is told from the fields that have it, and counted over what the viewer may see", () => {
  const world = new TestIndex();
  try {
    world.access("w1", 1, [["everyone"]]);
    world.access("w1", 2, [["bob"]]);
    const title = "Travel rules";
    const item = { kbId: "kbi_a", title, path: ["travel"], labels: [], text: "travelling by travel, travels" };
    world.apply("w1", [{ type: "upsert", document: { ...makeDocument(item), text: analyzeDocument(item) } }]);
    world.put("w1", { kbId: "kbi_b", text: "soup" }, { kbId: "kbi_c", text: "travel", aclId: 2 });
    const { hits, explained } = world.openReader().search(makeRequest({ query: "travel soup", isExplained: true }));
    if (explained === undefined) throw new Error("The scores were not explained.");
    expect(explained.statistics).toEqual({ items: 2, averageLength: (4 + 4 + 2 + 4 + 1) / 2, feedback: [] });
    const explain = makeExplainer(hits, explained);
    const found = { ...facts({ kind: "file", title, path: ["travel"] }), ...ABOUT, kbId: "kbi_a" };
    expect(explain(found, hits.find(({ kbId }) => kbId === "kbi_a")?.position)).toMatchObject({
      group: "some",
      length: 14,
      terms: [{ written: "travel", term: "travel", df: 1, weight: 9, frequency: { title: 1, place: 1, text: 3 } }],
      factors: [{ factor: "words", score: 1 }, ...["frequency", "title", "place", "length", "rarity"].map(named)],
    });
    expect(explain(found, undefined)).toEqual({ group: "address", score: null, length: null, terms: [], factors: [] });
  } finally {
    world.close();
  }
});

const named = (factor: string) => expect.objectContaining({ factor });

test.for(Object.keys(FACTORS) as FactorName[])("%s can be switched off, and then does nothing", (factor) => {
  const ranking = makeRanking([factor]);
  expect(ranking).toEqual({ ...makeRanking(), [factor]: FACTORS[factor].off });
  const weights = { title: ranking.title, place: ranking.place };
  const world = new TestIndex();
  try {
    world.access("w1", 1, [["everyone"]]);
    const put = (kbId: string, item: { title?: string; path?: string[]; text: string }) => {
      const text = analyzeDocument({ title: "", path: [], labels: [], ...item }, undefined, weights);
      world.apply("w1", [{ type: "upsert", document: { ...makeDocument({ kbId }), text } }]);
      world.texts.set(`w1 ${kbId}`, [item.title ?? "", item.text]);
    };
    put("kbi_titled", { title: "kettle", text: "blue" });
    put("kbi_placed", { path: ["kettle"], text: "blue" });
    put("kbi_often", { text: "kettle kettle blue" });
    put("kbi_long", { text: `kettle blue ${"tea ".repeat(30)}` });
    put("kbi_once", { text: "kettle the blue" });
    put("kbi_same", { text: "kettle blue" });
    put("kbi_rare", { text: "saucer blue" });
    put("kbi_spout", { text: "spout lid gauge" });
    put("kbi_handle", { text: "spout handle gauge" });
    for (let i = 0; i < 20; i++) put(`kbi_cup${i}`, { text: "cup" });
    put("kbi_both", { text: `kettle saucer blue ${"tea ".repeat(300)}` });
    const plain = world.openReader();
    const without = world.openReader({ ranking });
    const scores = (query: string, reader = without) =>
      Object.fromEntries(reader.search(makeRequest({ query })).hits.map(({ kbId, score }) => [kbId.slice(4), score]));
    const order = (query: string, reader = without) =>
      reader.search(makeRequest({ query })).hits.map(({ kbId }) => kbId.slice(4));
    const isFed = (query: string, reader = without) => reader.search(makeRequest({ query })).hasFeedback;
    const { titled, placed, often, long, once, same } = scores("kettle");
    const isOff: Record<FactorName, () => void> = {
      frequency: () => expect(new Set([titled, placed, often, long, once, same]).size).toBe(1),
      title: () => expect(titled).toBe(same),
      place: () => expect(placed).toBe(same),
      length: () => expect(long).toBe(once),
      rarity: () => expect(scores("saucer").rare).toBe(scores("blue").rare),
      allWords: () => expect([order("kettle saucer")[0], order("kettle saucer", plain)[0]]).toEqual(["rare", "both"]),
      someWords: () => expect([order("kettle saucer"), order("kettle saucer", plain).length]).toEqual([["both"], 8]),
      feedback: () => expect([isFed("spout lid handle"), isFed("spout lid handle", plain)]).toEqual([false, true]),
      stopWords: () => expect([order("the kettle")[0], order("the kettle", plain)[0]]).toEqual(["once", "titled"]),
    };
    isOff[factor]();
  } finally {
    world.close();
  }
});
