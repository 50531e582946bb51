import { afterEach, beforeEach, expect, test } from "vitest";
import { chooseMerge, COMPACTION_LIMITS } from "#storage/index/write/compaction.ts";
import { makeIndexWriter } from "#storage/index/write/writer.ts";
import { makeDocument, makeRequest, TestIndex, TINY_LIMITS } from "../world.ts";

let index: TestIndex;

beforeEach(() => {
  index = new TestIndex();
  index.access("w1", 1, [["everyone"]]);
});
afterEach(() => index.close());

const count = (table: string) => Number(index.db.prepare(`SELECT count(*) AS n FROM ${table}`).get().n);
const putMany = (from: number, to: number, text = "word") =>
  index.put("w1", ...Array.from({ length: to - from }, (_, i) => ({ kbId: `kbi_${from + i}`, text })));

test("a slice that is rolled back loses nothing: the compaction starts again", () => {
  putMany(0, 8);
  const reader = index.openReader();
  for (let tries = 0; tries < 30; tries++) {
    index.db.exec("BEGIN IMMEDIATE");
    index.writer.nextCompactionSlice();
    index.db.exec("ROLLBACK");
    index.writer.nextCompactionSlice();
    expect(reader.search(makeRequest({ query: "word" })).total).toBe(8);
  }
  index.compactAll();
  expect(reader.stats("w1")).toMatchObject({ documents: 8, deltaDocuments: 0 });
  expect(Number(index.db.prepare("SELECT count(*) AS n FROM index_segments WHERE state <> 1").get().n)).toBe(0);
});

test("a reader in the middle of a compaction sees what it saw before", () => {
  putMany(0, 30);
  const reader = index.openReader();
  const request = makeRequest({ query: "word", limit: 50 });
  const before = { ...reader.search(request), tookMs: 0 };
  while (index.writer.nextCompactionSlice()) {
    expect({ ...reader.search(request), tookMs: 0 }).toEqual(before);
    expect({ ...index.openReader().search(request), tookMs: 0 }).toEqual(before);
  }
  expect(reader.stats("w1").segments).toBeGreaterThan(0);
});

test("what a crash left half written is swept and never read", () => {
  putMany(0, 8);
  index.writer.nextCompactionSlice();
  expect(count("index_segments")).toBe(1);
  index.reopenWriter();
  index.compactAll();
  expect(index.openReader().search(makeRequest({ query: "word" })).total).toBe(8);
  const ids: { id: number }[] = index.db.prepare("SELECT id FROM index_postings").all();
  const segments = new Set(ids.map(({ id }) => Math.floor(id / 2 ** 32)));
  expect(segments.size).toBe(count("index_segments"));
});

test("a dropped workspace is gone at once, its rows later, and its number is not given again", () => {
  putMany(0, 20);
  index.compactAll();
  index.transaction(() => index.writer.dropWorkspace("w1"));
  const reader = index.openReader();
  expect(reader.search(makeRequest({ query: "word" })).total).toBe(0);
  index.compactAll();
  const tables = ["index_terms", "index_postings", "index_columns", "index_segments", "index_delta", "index_state"];
  expect(tables.map(count)).toEqual([0, 0, 0, 0, 0, 0]);
  putMany(0, 1);
  expect(index.db.prepare("SELECT no FROM index_state").get().no).toBe(2);
  expect(reader.search(makeRequest({ query: "word" })).total).toBe(1);
});

test("changes during a rebuild win over the documents it was given", () => {
  putMany(0, 12, "old");
  const documents = Array.from({ length: 12 }, (_, i) => makeDocument({ kbId: `kbi_${i}`, text: "rebuilt" }));
  const job = index.transaction(() => {
    const started = index.writer.rebuild("w1", documents);
    started.next();
    return started;
  });
  const reader = index.openReader();
  expect(reader.search(makeRequest({ query: "old" })).total).toBe(12);
  index.put("w1", { kbId: "kbi_3", text: "changed" });
  index.apply("w1", [{ type: "remove", kbId: "kbi_4" }]);
  index.transaction(() => [...job]);
  const total = (query: string) => reader.search(makeRequest({ query })).total;
  expect(["old", "rebuilt", "changed"].map(total)).toEqual([0, 10, 1]);
  index.compactAll();
  expect(["old", "rebuilt", "changed"].map(total)).toEqual([0, 10, 1]);
});

test("words of removed items leave the vocabulary with the merge that drops their last posting", () => {
  putMany(0, 20, "word");
  index.put("w1", { kbId: "secret", text: "zanzibar" });
  index.compactAll();
  index.apply("w1", [{ type: "remove", kbId: "secret" }]);
  putMany(0, 20, "word again");
  index.compactAll();
  putMany(0, 20, "word once more");
  index.compactAll();
  const terms: { term: string }[] = index.db.prepare("SELECT term FROM index_terms").all();
  expect(terms.map(({ term }) => term)).not.toContain("zanzibar");
  expect(terms.map(({ term }) => term)).toContain("word");
  expect(index.openReader().search(makeRequest({ query: "word" })).total).toBe(20);
});

test("a word that one segment loses stays while another segment has it", () => {
  // Two segments too large to be merged with each other, and a word in both.
  index.put("w1", { kbId: "kept", text: "zanzibar" });
  putMany(0, 35);
  index.compactAll();
  index.put("w1", { kbId: "secret", text: "zanzibar" });
  putMany(40, 75);
  index.compactAll();
  const segments = count("index_segments");
  index.apply("w1", [{ type: "remove", kbId: "secret" }]);
  putMany(40, 75, "word again");
  index.compactAll();
  expect(segments).toBeGreaterThan(1);
  expect(index.openReader().search(makeRequest({ query: "zanzibar" })).total).toBe(1);
});

test("an index of another analyzer is named until it is rebuilt", () => {
  putMany(0, 2);
  expect(index.writer.outdatedWorkspaces()).toEqual([]);
  index.db.exec("UPDATE index_state SET analyzerVersion = 0");
  expect(index.writer.outdatedWorkspaces()).toEqual(["w1"]);
  index.transaction(() => [...index.writer.rebuild("w1", [makeDocument({ kbId: "kbi_0", text: "word" })])]);
  expect(index.writer.outdatedWorkspaces()).toEqual([]);
});

test("no slice goes on after its time", () => {
  let now = 0;
  const writer = makeIndexWriter(index.db, { limits: TINY_LIMITS, sliceMs: 3, now: () => now++ });
  putMany(0, 40);
  let slices = 0;
  while (writer.nextCompactionSlice()) slices++;
  // Each look at the clock is a millisecond here: a few steps a slice.
  expect(slices).toBeGreaterThan(10);
});

test("levels: eight small segments, then two medium ones, then worn ones are merged", () => {
  const row = (segment: number, docs: number, deadCount = 0) => ({
    segment,
    docs,
    deadCount,
    dead: undefined,
    bytes: 0,
  });
  const choose = (rows: ReturnType<typeof row>[]) => chooseMerge(rows, COMPACTION_LIMITS)?.map((each) => each.segment);
  expect(choose(Array.from({ length: 7 }, (_, i) => row(i, 4_096)))).toBeUndefined();
  expect(choose(Array.from({ length: 8 }, (_, i) => row(i, 4_096)))).toHaveLength(8);
  expect(choose([row(1, 32_768), row(2, 32_768)])).toEqual([1, 2]);
  expect(choose([row(1, 48_000), row(2, 48_000)])).toBeUndefined();
  expect(choose([row(1, 65_536, 6_000)])).toBeUndefined();
  expect(choose([row(1, 65_536, 7_000)])).toEqual([1]);
});
