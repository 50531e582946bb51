import { afterEach, beforeEach, expect, test } from "vitest";
import { makeId } from "#api/common.ts";
import { BLOCK_ROWS, findDeltaDocument } from "#storage/index/delta-rows.ts";
import type { IndexReader } from "#storage/index/read/reader.ts";
import { lowOf } from "#storage/index/schema.ts";
import { makeStatements } from "#storage/index/sqlite.ts";
import { COMPACTION_LIMITS } from "#storage/index/write/compaction.ts";
import type { IndexedDocument, SearchRequest } from "#storage/search-index.ts";
import { makeRandom } from "../../../bench/search-corpus.ts";
import { makeDocument, makeRequest, TestIndex } from "../world.ts";

/** More than two blocks. */
const ITEMS = BLOCK_ROWS * 2 + 300;
const WORDS = ["alpha", "alphabet", "beta", "bet", "gamma", "東京", "running", "foo_bar"];

let index: TestIndex;

beforeEach(() => {
  index = new TestIndex(COMPACTION_LIMITS);
  index.access("w1", 1, [["everyone"]]);
  index.access("w1", 2, [["ann"]]);
});
afterEach(() => index.close());

/** Items of random words; every tenth has none, and every seventh is Ann's. */
function putMany(seed: number, from: number, to: number): void {
  const random = makeRandom(seed);
  const documents = Array.from({ length: to - from }, (_, i) => {
    const words = Array.from({ length: i % 10 === 0 ? 0 : 1 + Math.floor(random() * 8) }, () => pick(random));
    return makeDocument({
      kbId: `kbi_${from + i}`,
      title: i % 3 === 0 ? pick(random) : "",
      text: words.join(" "),
      aclId: i % 7 === 0 ? 2 : 1,
      more: { people: [`ent_${i % 5}`], containers: [`ent_c${i % 3}`], updatedAt: 1_700_000_000_000 + i },
    });
  });
  index.apply(
    "w1",
    documents.map((document) => ({ type: "upsert", document })),
  );
}

test("items that were taken from someone are in no count of theirs, whatever their ids", () => {
  // Few changes wait for a segment, and many items are in one.
  const own = new TestIndex({ ...COMPACTION_LIMITS, deltaRows: 100 });
  own.access("w1", 1, [["everyone"]]);
  own.access("w1", 2, [["ann"]]);
  const random = makeRandom(7);
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256));
  const ids = Array.from({ length: 900 }, () => makeId("item", bytes));
  const put = (kbId: string, text: string) =>
    ({ type: "upsert", document: makeDocument({ kbId, text, aclId: 1 }) }) as const;
  own.apply(
    "w1",
    ids.map((kbId) => put(kbId, "alpha")),
  );
  own.compactAll();
  const open = own.openReader();
  const countAll = () => [open, own.openReader()].map((reader) => reader.search(makeRequest({ query: "alpha" })).total);
  expect(countAll()).toEqual([900, 900]);
  own.apply(
    "w1",
    ids.slice(0, 300).map((kbId) => ({ type: "access", kbId, aclId: 2 })),
  );
  expect(countAll()).toEqual([600, 600]);
  own.apply(
    "w1",
    ids.slice(300, 600).map((kbId) => ({ type: "remove", kbId })),
  );
  expect(countAll()).toEqual([300, 300]);
  own.apply(
    "w1",
    ids.slice(600).map((kbId) => put(kbId, "alpha beta")),
  );
  expect(countAll()).toEqual([300, 300]);
  own.close();
});

function pick(random: () => number): string {
  return WORDS[Math.floor(random() * WORDS.length)] ?? "";
}

const REQUESTS: readonly Partial<SearchRequest>[] = [
  ...WORDS.map((query) => ({ query })),
  { query: "alpha beta" },
  { query: "gamma -bet running" },
  { query: "alpha gamma unheard" },
  { query: "al*" },
  { query: "beta", filters: { people: ["ent_1"], containers: ["ent_c2"] } },
  { query: "", order: "recency", filters: { people: ["ent_4"] } },
];

function answers(reader: IndexReader): unknown[] {
  return [["everyone"], ["ann", "everyone"]].flatMap((principals) =>
    REQUESTS.map((request) => {
      const facets = ["kind", "person"] as const;
      return { ...reader.search(makeRequest({ limit: 50, facets, ...request, principals })), tookMs: 0 };
    }),
  );
}

/** What a reader answers that has read every word of every change. */
function answersOfAll(): unknown[] {
  const reader = index.openReader();
  reader.search(makeRequest({ query: "alpha" }));
  while (reader.readSome());
  return answers(reader);
}

test("changes that a reader has only looked through are found as those it has read", () => {
  const random = makeRandom(7);
  putMany(1, 0, ITEMS);
  const reader = index.openReader();
  const look = () => reader.search(makeRequest({ query: "alpha" }));
  expect(answers(index.openReader())).toEqual(answersOfAll());
  for (let round = 0; round < 6; round++) {
    look();
    reader.readSome(Math.floor(random() * BLOCK_ROWS));
    // Some change again, some are new, some go.
    const from = Math.floor(random() * ITEMS);
    putMany(round + 2, from, from + 150);
    index.apply("w1", [
      { type: "remove", kbId: `kbi_${from + 3}` },
      { type: "access", kbId: `kbi_${from + 5}`, aclId: 2 },
    ]);
    look();
    // Asked of a reader that goes on with what it had, as prefixes make it read all.
    expect(answers(reader)).toEqual(answersOfAll());
  }
});

/** A document as it was written before it had hashes, and before that. */
const FORMER = {
  bytes: (row: Uint8Array, hashBytes: number) => {
    const head = Buffer.from(row.subarray(0, 54));
    head[52] = (head[52] ?? 0) & 0x7f;
    return Buffer.concat([head, row.subarray(54 + hashBytes)]);
  },
  json: (_row: Uint8Array, _hashBytes: number, { text, ...rest }: IndexedDocument) =>
    JSON.stringify({ ...rest, length: text.length }),
};

test.for(["bytes", "json"] as const)(
  "changes that a former version wrote as %s are found and compacted as those of today",
  (form) => {
    putMany(1, 0, 300);
    index.apply("w1", [{ type: "remove", kbId: "kbi_8" }]);
    const wanted = answers(index.openReader());
    const rows = index.db
      .prepare(
        "SELECT id, document, length(weights) AS terms FROM index_delta WHERE document IS NOT NULL AND id % 3 > 0",
      )
      .all();
    for (const { id, document, terms } of rows) {
      const whole = findDeltaDocument(makeStatements(index.db), 1, lowOf(Number(id))) ?? makeDocument({ kbId: "" });
      const former = FORMER[form](document, terms * 2, whole);
      index.db.prepare("UPDATE index_delta SET document = ? WHERE id = ?").run(former, id);
    }
    expect(answers(index.openReader())).toEqual(wanted);
    expect(answersOfAll()).toEqual(wanted);
    putMany(2, 300, COMPACTION_LIMITS.deltaRows + 300);
    const more = answers(index.openReader());
    index.compactAll();
    expect(index.db.prepare("SELECT count(*) AS n FROM index_delta").get()).toEqual({ n: 0 });
    expect(answers(index.openReader())).toEqual(more);
  },
);

test("what was read stays read, and nothing is left when all was", () => {
  putMany(1, 0, 130);
  const reader = index.openReader();
  expect(reader.readSome()).toBe(false);
  const before = { ...reader.search(makeRequest({ query: "alpha" })), tookMs: 0 };
  let steps = 0;
  while (reader.readSome(50)) {
    steps++;
    expect({ ...reader.search(makeRequest({ query: "alpha" })), tookMs: 0 }).toEqual(before);
  }
  expect(steps).toBe(3);
});

test("a reader that has followed the changes reads none of them when it is asked", () => {
  putMany(1, 0, 130);
  const reader = index.openReader();
  const count = (principals: string[]) => reader.search(makeRequest({ query: "", principals })).total;
  expect(reader.follow()).toBe("nothing");
  const [before, others] = [count(["ann", "everyone"]), count(["everyone"])];
  putMany(2, 130, 270);
  index.apply("w1", [{ type: "access", kbId: "kbi_1", aclId: 2 }]);
  expect(reader.follow()).toBe("followed");
  expect(reader.follow()).toBe("settled");
  // Words and names of the new items aren't asked for.
  index.db.exec("UPDATE index_delta SET document = NULL");
  expect(count(["ann", "everyone"])).toBe(before + 140);
  expect(count(["everyone"])).toBe(others + 140 - 20 - 1);
});

test("what no one has searched for ten minutes isn't followed", () => {
  let now = 0;
  putMany(1, 0, 10);
  const reader = index.openReader({ now: () => now });
  reader.search(makeRequest({ query: "alpha" }));
  now = 599_000;
  expect(reader.follow()).toBe("followed");
  now = 601_000;
  expect(reader.follow()).toBe("nothing");
});
