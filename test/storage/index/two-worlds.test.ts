import * as fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import type { SegmentView } from "#storage/index/segment-view.ts";
import { makeStatements } from "#storage/index/sqlite.ts";
import { lengthOf } from "#storage/index/posting-list.ts";
import { type TermLists, TermReader } from "#storage/index/read/term-lists.ts";
import { type VisibleSet, Visibility } from "#storage/index/visibility/visibility.ts";
import { ACCESSES, firstDifference, type Flaw, scenario, type Scenario } from "./two-worlds.ts";
import type { TestIndex } from "./world.ts";
import { runs } from "../../runs.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("an answer is the same to the byte whether or not there are things the viewer can't see", () => {
  fc.assert(
    fc.property(scenario, (each) => {
      expect(firstDifference(each)).toBeUndefined();
    }),
    { numRuns: runs(18) },
  );
});

/** Whether one of 12 fixed scenarios gives a broken reader away. */
function isFoundOut(flaw: Flaw): boolean {
  return fc.sample(scenario, { numRuns: 12, seed: 7 }).some((each) => firstDifference(each, flaw) !== undefined);
}

/** Breaks what the viewer's set of visible documents is made of. */
function breakVisibleSet(change: (set: VisibleSet, segments: readonly SegmentView[]) => VisibleSet): void {
  const original = Visibility.prototype.visibleSet;
  vi.spyOn(Visibility.prototype, "visibleSet").mockImplementation(function (this: Visibility, viewer, segments) {
    return change(original.call(this, viewer, segments), segments);
  });
}

const everybody = { principals: ["ann", "bob", "everyone"], epoch: 9 };

/** Postings in all, hidden and dead ones included. */
const postingsIn = ({ lists }: TermLists) => lists.reduce((sum, list) => sum + (list ? lengthOf(list) : 0), 0);

const plain: Flaw = (_index, reader) => (request) => reader.search(request);

/** Accesses that a wrong rule opens to ann in "everyone". */
function opened(isOpen: (lists: string[][]) => boolean): number[] {
  return Object.entries(ACCESSES).flatMap(([aclId, lists]) => (isOpen(lists) ? [Number(aclId)] : []));
}

/** Opens the documents with one of these accesses as well; N and lengths stay. */
function withAccesses(set: VisibleSet, segments: readonly SegmentView[], aclIds: readonly number[]): VisibleSet {
  const documents = set.documents.map((known, s) => {
    const bits = known.slice();
    segments[s]?.columns.acl.forEach((aclId, id) => {
      if (aclIds.includes(aclId)) bits[id >>> 5] = (bits[id >>> 5] ?? 0) | (1 << (id & 31));
    });
    return bits;
  });
  return { ...set, documents };
}

const isMine = (principal: string) => principal === "ann" || principal === "everyone";

test("planted leak: hidden postings in df are found out", () => {
  const original = TermReader.prototype.visibleCount;
  vi.spyOn(TermReader.prototype, "visibleCount").mockImplementation(function (this: TermReader, lists) {
    return original.call(this, lists) === 0 ? 0 : postingsIn(lists);
  });
  expect(isFoundOut(plain)).toBe(true);
});

test("planted leak: hidden items in N and the average length are found out", () => {
  breakVisibleSet((set, segments) => {
    let [items, length] = [0, 0];
    for (const { columns } of segments) {
      for (let id = 0; id < columns.docs; id++) {
        if (columns.acl[id] === 0) continue;
        items++;
        length += columns.lengths[id] ?? 0;
      }
    }
    return { ...set, items, length };
  });
  expect(isFoundOut(plain)).toBe(true);
});

test("planted leak: an access without lists taken for everyone is found out", () => {
  const wrong = opened((lists) => lists.every((list) => list.some(isMine)));
  expect(wrong).toContain(4);
  breakVisibleSet((set, segments) => withAccesses(set, segments, wrong));
  expect(isFoundOut(plain)).toBe(true);
});

test("planted leak: matching principals counted instead of lists is found out", () => {
  const wrong = opened((lists) => lists.length > 0 && lists.flat().filter(isMine).length >= lists.length);
  expect(wrong).toContain(5);
  breakVisibleSet((set, segments) => withAccesses(set, segments, wrong));
  expect(isFoundOut(plain)).toBe(true);
});

test("planted leak: accesses of another workspace are found out", () => {
  let current: TestIndex | undefined;
  const original = Visibility.prototype.visibleSet;
  vi.spyOn(Visibility.prototype, "visibleSet").mockImplementation(function (this: Visibility, viewer, segments) {
    const mine = original.call(this, viewer, segments);
    if (current === undefined) return mine;
    const other = original.call(new Visibility(makeStatements(current.db), "w2", 0), viewer, segments);
    return { ...mine, documents: other.items > 0 ? other.documents : mine.documents };
  });
  const flaw: Flaw = (index, reader) => (request) => {
    current = index;
    return reader.search(request);
  };
  expect(isFoundOut(flaw)).toBe(true);
});

test("planted leak: a prefix that expands to hidden words is found out", () => {
  vi.spyOn(TermReader.prototype, "isInSight").mockImplementation((lists) => postingsIn(lists) > 0);
  // What gives hidden expansions away is the cap, far lower here than 256.
  const original = TermReader.prototype.prefix;
  vi.spyOn(TermReader.prototype, "prefix").mockImplementation(function (this: TermReader, prefix, deltas) {
    const found = original.call(this, prefix, deltas);
    return { ...found, isCapped: postingsIn(found) > 6 };
  });
  expect(isFoundOut(plain)).toBe(true);
});

test("planted leak: a choice of all or any words that counts hidden items is found out", () => {
  const start = { group: 1, value: Number.MAX_VALUE, kbId: "" } as const;
  const flaw: Flaw = (_index, reader) => (request) => {
    const everything = { ...request, viewer: { principals: ["ann", "bob", "everyone"], epoch: 9 } };
    if (request.order === "recency" || reader.search(everything).totalAll < 10) return reader.search(request);
    return reader.search({ ...request, after: { position: start, match: "all" } });
  };
  const item = { title: "", text: "alpha beta gamma", updatedAt: 1, person: "ent_a", status: "draft" } as const;
  const some = { ...item, text: "alpha beta" };
  const each: Scenario = {
    visible: [item, item, item, some, some].map((one) => ({ ...one, aclId: 1 as const })),
    hidden: Array.from({ length: 12 }, () => ({ ...item, aclId: 3 })),
    compactions: 0,
    questions: [{ query: "alpha beta gamma", order: "relevance", filters: {} }],
  };
  expect(firstDifference(each)).toBeUndefined();
  expect(firstDifference(each, flaw)).toContain("two worlds");
});

/** A world of these texts, and a question to which words of the first hits may be added. */
function worldOf(query: string, visible: readonly string[], hidden: readonly string[]): Scenario {
  const item = { title: "", updatedAt: 1, person: "ent_a", status: "draft" } as const;
  return {
    visible: visible.map((text) => ({ ...item, text, aclId: 1 })),
    hidden: hidden.map((text) => ({ ...item, text, aclId: 3 })),
    compactions: 0,
    questions: [{ query, order: "relevance", filters: {} }],
  };
}

const times = (count: number, text: string) => Array<string>(count).fill(text);

test("planted leak: hidden items that decide whether words of the first hits count are found out", () => {
  const start = { group: 1, value: Number.MAX_VALUE, kbId: "" } as const;
  const flaw: Flaw = (_index, reader) => (request) => {
    const { match, hasFeedback } = reader.search({ ...request, viewer: everybody });
    return reader.search({ ...request, after: { position: start, match, hasFeedback } });
  };
  const shared = times(3, "alpha alpha beta beta delta");
  const visible = [
    ...shared,
    ...times(10, "alpha alpha beta beta running running"),
    ...times(40, "running gamma alphabet zeusian"),
  ];
  // Only hidden items have the rarest word. With it, the best score there could be is far off.
  const each = worldOf("alpha beta merger zeus", visible, ["zeus"]);
  expect(firstDifference(each)).toBeUndefined();
  expect(firstDifference(each, flaw)).toContain("two worlds");
});

test("planted leak: hidden items in the df of a word of the first hits are found out", () => {
  const terms = new WeakMap<TermLists, string>();
  const { lists, visibleCount } = TermReader.prototype;
  vi.spyOn(TermReader.prototype, "lists").mockImplementation(function (this: TermReader, term) {
    const found = lists.call(this, term);
    terms.set(found, term);
    return found;
  });
  vi.spyOn(TermReader.prototype, "visibleCount").mockImplementation(function (this: TermReader, of) {
    return terms.get(of) === "delta" ? postingsIn(of) : visibleCount.call(this, of);
  });
  const first = [...times(3, "alpha alpha alpha delta"), ...times(2, "zeus zeus zeus zeus")];
  const visible = [...first, ...times(10, "alpha alpha beta beta"), ...times(40, "running gamma alphabet beta")];
  expect(firstDifference(worldOf("alpha zeus merger", visible, times(9, "delta")))).toContain("two worlds");
});

test.for(["statistics", "df"] as const)("planted leak: explained %s that count hidden items are found out", (place) => {
  const flaw: Flaw = (_index, reader) => (request) => {
    const response = reader.search(request);
    const viewer = { principals: ["ann", "bob", "everyone"], epoch: 9 };
    const { explained: all } = reader.search({ ...request, viewer });
    const { explained } = response;
    if (explained === undefined || all === undefined) return response;
    if (place === "statistics") return { ...response, explained: { ...explained, statistics: all.statistics } };
    const dfs = new Map(all.hits.flatMap(({ terms }) => terms.map(({ term, df }) => [term, df])));
    const hits = explained.hits.map((hit) => ({
      ...hit,
      terms: hit.terms.map((term) => ({ ...term, df: dfs.get(term.term) ?? term.df })),
    }));
    return { ...response, explained: { ...explained, hits } };
  };
  expect(isFoundOut(flaw)).toBe(true);
});

test("planted leak: the visible set of another epoch is found out", () => {
  const known = new Map<Visibility, VisibleSet>();
  const original = Visibility.prototype.visibleSet;
  vi.spyOn(Visibility.prototype, "visibleSet").mockImplementation(function (this: Visibility, viewer, segments) {
    const set = known.get(this) ?? original.call(this, viewer, segments);
    known.set(this, set);
    return set;
  });
  const flaw: Flaw = (_index, reader) => (request) => {
    // A moment ago ann was still in bob's group.
    reader.search({ ...request, viewer: { principals: ["ann", "bob", "everyone"], epoch: 1 } });
    return reader.search({ ...request, viewer: { ...request.viewer, epoch: 2 } });
  };
  expect(isFoundOut(flaw)).toBe(true);
});
