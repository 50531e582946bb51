import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { IndexedDocument } from "#storage/search-index.ts";
import { PostingCache } from "#storage/index/posting-cache.ts";
import { COMPACTION_LIMITS } from "#storage/index/write/compaction.ts";
import { makeRandom } from "../../../bench/search-corpus.ts";
import { runs } from "../../../runs.ts";
import { oracleSearch } from "../oracle.ts";
import { makeDocument, makeRequest, TestIndex } from "../world.ts";

/** From words that nearly every item has to words of a few: so many that the best are found early and the rest is dropped. */
const WORDS = Array.from({ length: 24 }, (_, rank) => ({ word: `w${String.fromCharCode(97 + rank)}x`, rank }));
const ACCESSES = new Map([
  [1, [["everyone"]]],
  [2, [["bob"]]],
]);

const index = new TestIndex(COMPACTION_LIMITS);
afterAll(() => index.close());

const random = makeRandom(4);
const documents = Array.from({ length: 1_600 }, (_, i): IndexedDocument => {
  // Long items that say much once score far less than short ones that say little often.
  const isLong = i % 50 === 0;
  const text = WORDS.flatMap(({ word, rank }) =>
    isLong || random() < 0.7 / (1 + rank / 3)
      ? Array<string>(isLong ? 1 : 1 + Math.floor(random() ** 3 * 30)).fill(word)
      : [],
  );
  if (isLong) text.push(...Array<string>(100 + Math.floor(random() * 400)).fill("padding"));
  const updatedAt = 1_700_000_000_000 + (i % 90) * 86_400_000;
  const kind = i % 3 === 0 ? "task" : "page";
  return { ...makeDocument({ kbId: `kbi_${i}`, text: text.join(" "), aclId: i % 7 === 0 ? 2 : 1 }), kind, updatedAt };
});
for (const [aclId, lists] of ACCESSES) index.access("w1", aclId, lists);
// More than one segment, and a delta with newer versions.
index.transaction(() => index.writer.bulk("w1", documents.slice(0, 1_000)));
index.transaction(() => index.writer.bulk("w1", documents.slice(1_000)));
index.apply(
  "w1",
  documents.slice(0, 40).map((document) => ({ type: "upsert", document })),
);
const workspace = {
  documents: new Map(documents.map((document) => [document.kbId, document])),
  accesses: ACCESSES,
  texts: new Map<string, string[]>(),
};

const question = fc.record({
  words: fc.uniqueArray(fc.constantFrom(...WORDS.map(({ word }) => word)), { minLength: 2, maxLength: 9 }),
  match: fc.constantFrom("all", "any", "one"),
  /** By date only what has all words is ordered. */
  order: fc.constantFrom("relevance", "relevance", "recency"),
  isFiltered: fc.boolean(),
  principals: fc.constantFrom(["everyone"], ["bob", "everyone"], ["bob"]),
  limit: fc.constantFrom(1, 10, 50),
  /** A list is dense from so many entries on: all, some, none. */
  dense: fc.constantFrom(1, 300, Infinity),
});

const readers = new Map(
  [1, 300, Infinity].map((dense) => [
    dense,
    index.openReader({ postings: new PostingCache({ dense, isShared: true }) }),
  ]),
);

test("what can't come to stand among the best is counted and left unscored, however lists are kept", () => {
  fc.assert(
    fc.property(question, ({ words, match, order, isFiltered, principals, limit, dense }) => {
      const start = order === "recency" ? 8.64e15 : Number.MAX_VALUE;
      const request = makeRequest({
        query: words.join(" "),
        viewer: { principals, epoch: 1 },
        filters: isFiltered ? { kinds: ["task"] } : {},
        limit,
        facets: ["kind", "month"],
        order,
        after: { position: { group: 1, value: start, kbId: "" }, match: order === "recency" ? "all" : match },
      });
      const { tookMs: _, ...actual } = readers.get(dense)?.search(request) ?? { tookMs: 0 };
      const expected = oracleSearch(workspace, request);
      // Sums of scores may differ in their last digit.
      const rounded = ({ hits = [], ...rest }: Partial<typeof expected>) => ({
        ...rest,
        hits: hits.map(({ kbId, score, position: { group } }) => ({ kbId, group, score: score.toFixed(9) })),
      });
      expect(rounded(actual)).toEqual(rounded(expected));
    }),
    { numRuns: runs(40) },
  );
});
