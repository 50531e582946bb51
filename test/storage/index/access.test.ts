import { afterAll, beforeAll, expect, test } from "vitest";
import type { IndexReader } from "#storage/index/read/reader.ts";
import { ACCESSES, isOpenByTheBook, SETS } from "../access/small-worlds.ts";
import { makeDocument, makeRequest, TestIndex } from "./world.ts";

let index: TestIndex;
let reader: IndexReader;

beforeAll(() => {
  index = new TestIndex();
  index.transaction(() => {
    ACCESSES.forEach((lists, i) => index.access("w1", i + 1, lists));
    const documents = ACCESSES.map((_, i) => makeDocument({ kbId: `kbi_${i}`, text: "word", aclId: i + 1 }));
    index.writer.bulk("w1", documents.slice(0, 300));
    index.writer.apply(
      "w1",
      documents.slice(300).map((document) => ({ type: "upsert", document })),
    );
  });
  reader = index.openReader();
});

afterAll(() => index.close());

test.each(SETS.map((viewer) => [viewer]))(
  "viewer %j sees exactly what every list opens, of all 585 accesses",
  (viewer) => {
    const expected = ACCESSES.flatMap((lists, i) => (isOpenByTheBook(lists, viewer) ? [`kbi_${i}`] : []));
    const seen: string[] = [];
    let after: Parameters<typeof makeRequest>[0]["after"];
    for (;;) {
      const request = makeRequest({ query: "word", principals: viewer, limit: 200, ...(after && { after }) });
      const response = reader.search(request);
      expect(response.total).toBe(expected.length);
      seen.push(...response.hits.map((hit) => hit.kbId));
      const last = response.hits.at(-1);
      if (!response.hasMore || last === undefined) break;
      after = { position: last.position, match: response.match };
    }
    expect(seen.sort()).toEqual(expected.sort());
  },
);

test("an access of five lists and principals that look like markers follow the same rule", () => {
  index.access("w1", 9001, [["a"], ["b"], ["c"], ["a", "unused"], ["nobody"]]);
  index.access("w1", 9002, [["nobody"], ["unused"]]);
  index.put("w1", { kbId: "five", text: "quintet", aclId: 9001 }, { kbId: "marker", text: "quintet", aclId: 9002 });
  const ids = (principals: string[]) =>
    reader.search(makeRequest({ query: "quintet", principals })).hits.map((hit) => hit.kbId);
  expect(ids(["a", "b", "c"])).toEqual([]);
  expect(ids(["a", "b", "c", "nobody"])).toEqual(["five"]);
  expect(ids(["nobody", "unused"])).toEqual(["marker"]);
});

test("a viewer's set made from that of another is the one made afresh, whatever was changed between", () => {
  const own = new TestIndex();
  ACCESSES.forEach((lists, i) => own.access("w1", i + 1, lists));
  own.put("w1", ...ACCESSES.map((_, i) => ({ kbId: `kbi_${i}`, text: "word".repeat((i % 3) + 1), aclId: i + 1 })));
  own.compactAll();
  const shared = own.openReader();
  const answer = (of: IndexReader, principals: string[]) => ({
    ...of.search(makeRequest({ query: "", principals, limit: 700 })),
    tookMs: 0,
  });
  for (const [i, viewer] of [...SETS, ...SETS.toReversed()].entries()) {
    expect(answer(shared, viewer)).toEqual(answer(own.openReader(), viewer));
    own.apply("w1", [
      { type: "access", kbId: `kbi_${(i * 37) % 585}`, aclId: 1 + ((i * 101) % 585) },
      { type: "remove", kbId: `kbi_${(i * 53) % 585}` },
    ]);
    own.access("w1", 7000 + i, [viewer]);
    own.put("w1", { kbId: `new_${i}`, text: "word", aclId: 7000 + i });
    // What only the last viewer's set has followed yet.
    if (i % 3 === 0) answer(shared, viewer);
  }
  own.close();
});

test("an access that is stored later opens its items at the next search", () => {
  index.put("w1", { kbId: "late", text: "tardy", aclId: 9100 });
  const total = () => reader.search(makeRequest({ query: "tardy", principals: ["d"] })).total;
  expect(total()).toBe(0);
  index.access("w1", 9100, [["d"]]);
  expect(total()).toBe(1);
});

test("a small cache of visible sets changes nothing but speed", () => {
  const small = index.openReader({ cacheBytes: 1 });
  for (const viewer of [...SETS, ...SETS]) {
    const request = makeRequest({ query: "word", principals: viewer });
    expect({ ...small.search(request), tookMs: 0 }).toEqual({ ...reader.search(request), tookMs: 0 });
  }
});

test("accesses without lists between others open nothing and shift nothing", () => {
  for (const [aclId, lists] of [
    [9201, []],
    [9202, [["e"]]],
    [9203, []],
    [9205, [["f"], ["e"]]],
    [9206, []],
  ] as const) {
    index.access("w1", aclId, lists);
    index.put("w1", { kbId: `gap_${aclId}`, text: "gap", aclId });
  }
  for (const each of [reader, index.openReader()]) {
    const ids = (principals: string[]) =>
      each.search(makeRequest({ query: "gap", principals })).hits.map((hit) => hit.kbId);
    expect(ids(["e"])).toEqual(["gap_9202"]);
    expect(ids(["e", "f"])).toEqual(["gap_9202", "gap_9205"]);
    expect(ids(["f"])).toEqual([]);
  }
});
