import { expect, test } from "vitest";
import { fieldTerms } from "#text/field-terms.ts";
import type {
  FieldFilter,
  IndexChange,
  IndexedDocument,
  SearchIndex,
  SearchIndexWriter,
  SearchRequest,
  ShowRequest,
} from "#storage/search-index.ts";

interface DocumentSpec {
  kbId: string;
  title?: string;
  text?: string;
  aclId?: number;
  more?: Partial<IndexedDocument>;
}

export interface RecordSpec {
  kbId: string;
  title: string;
  text: string;
  aclId: number;
}

/** What a suite run gives the contract: both sides of an index, with a way to define accesses. */
export interface SearchIndexUnderTest {
  index: SearchIndex;
  /** Runs `work` in a transaction of the records, which is rolled back when it throws. */
  transaction(work: (writer: SearchIndexWriter) => void): Promise<void>;
  /** Does whatever upkeep of the workspace is due. */
  upkeep(workspaceId: string): Promise<void>;
  /** Stores an access under a number of the test's choice. */
  access(workspaceId: string, aclId: number, lists: readonly (readonly string[])[]): Promise<void>;
  document(spec: DocumentSpec): IndexedDocument;
  /** Stores the record and the text of an item, without telling the index. */
  record(workspaceId: string, spec: RecordSpec): Promise<void>;
  close(): Promise<void>;
}

const ask = (change: Partial<SearchRequest> & { principals?: readonly string[] }): SearchRequest => {
  const { principals = ["everyone"], ...rest } = change;
  const viewer = { principals, epoch: 1 };
  return { workspaceId: "w1", viewer, query: "", filters: {}, order: "relevance", limit: 10, ...rest };
};

const askShow = (change: Partial<ShowRequest> & { principals?: readonly string[] }): ShowRequest => ({
  ...ask(change),
  pinned: change.pinned ?? [],
  passages: { maxChars: 100 },
});

type Ids = (request: SearchRequest) => Promise<string[]>;

/** Every adapter of the search index passes these. */
export function searchIndexContract(open: () => Promise<SearchIndexUnderTest>): void {
  const withIndex = async (work: (t: SearchIndexUnderTest, ids: Ids) => Promise<void>) => {
    const t = await open();
    try {
      await t.access("w1", 1, [["everyone"]]);
      await t.access("w1", 2, [["ann", "bob"], ["staff"]]);
      await work(t, async (request) => (await t.index.search(request)).hits.map((hit) => hit.kbId));
    } finally {
      await t.close();
    }
  };
  const apply = (t: SearchIndexUnderTest, workspaceId: string, changes: readonly IndexChange[]) =>
    t.transaction((writer) => writer.apply(workspaceId, changes));
  const put = (t: SearchIndexUnderTest, ...specs: DocumentSpec[]) =>
    apply(
      t,
      "w1",
      specs.map((spec) => ({ type: "upsert", document: t.document(spec) })),
    );

  test("an item is found by the words of its title and text, the title weighing more", () =>
    withIndex(async (t, ids) => {
      await put(t, { kbId: "a", title: "Notes", text: "invoice" }, { kbId: "b", title: "Invoice", text: "notes" });
      expect(await ids(ask({ query: "invoices" }))).toEqual(["b", "a"]);
    }));

  test("an access of two lists needs one principal of each", () =>
    withIndex(async (t, ids) => {
      await put(t, { kbId: "a", text: "invoice", aclId: 2 });
      expect(await ids(ask({ query: "invoice", principals: ["ann", "bob"] }))).toEqual([]);
      expect(await ids(ask({ query: "invoice", principals: ["bob", "staff"] }))).toEqual(["a"]);
    }));

  test("access 0 is no one", () =>
    withIndex(async (t) => {
      await put(t, { kbId: "a", text: "invoice", aclId: 0 });
      const answer = await t.index.search(ask({ query: "invoice", facets: ["kind"] }));
      expect(answer).toMatchObject({ hits: [], total: 0, facets: { kind: [] }, unknownWords: ["invoice"] });
    }));

  test("a search opens exactly one workspace", () =>
    withIndex(async (t, ids) => {
      await t.access("w2", 1, [["everyone"]]);
      await apply(t, "w2", [{ type: "upsert", document: t.document({ kbId: "other", text: "invoice" }) }]);
      expect(await ids(ask({ query: "invoice" }))).toEqual([]);
      expect(await ids(ask({ query: "invoice", workspaceId: "w2" }))).toEqual(["other"]);
    }));

  test("an update replaces, an access change hides and a removal removes, each at once", () =>
    withIndex(async (t, ids) => {
      await put(t, { kbId: "a", text: "draft" }, { kbId: "b", text: "draft" });
      await put(t, { kbId: "a", text: "final" });
      expect(await ids(ask({ query: "draft" }))).toEqual(["b"]);
      await apply(t, "w1", [{ type: "access", kbId: "b", aclId: 2 }]);
      expect(await ids(ask({ query: "draft" }))).toEqual([]);
      await apply(t, "w1", [{ type: "remove", kbId: "a" }]);
      expect(await ids(ask({ query: "final" }))).toEqual([]);
    }));

  test("what a transaction wrote is found when it has committed, and never when it was rolled back", () =>
    withIndex(async (t, ids) => {
      await put(t, { kbId: "a", text: "draft" });
      const failed = t.transaction((writer) => {
        writer.apply("w1", [{ type: "upsert", document: t.document({ kbId: "b", text: "draft" }) }]);
        writer.apply("w1", [{ type: "remove", kbId: "a" }]);
        throw new Error("the batch failed");
      });
      await expect(failed).rejects.toThrow("the batch failed");
      expect(await ids(ask({ query: "draft" }))).toEqual(["a"]);
      await put(t, { kbId: "b", text: "draft" });
      expect(await ids(ask({ query: "draft" }))).toEqual(["a", "b"]);
    }));

  test("hidden documents are no one's until they get an access", () =>
    withIndex(async (t, ids) => {
      await put(t, { kbId: "a", text: "draft" }, { kbId: "b", text: "draft" }, { kbId: "c", text: "draft" });
      await t.transaction((writer) => writer.hide("w1", ["a", "c"]));
      expect(await ids(ask({ query: "draft" }))).toEqual(["b"]);
      await t.upkeep("w1");
      expect(await ids(ask({ query: "draft" }))).toEqual(["b"]);
      await apply(t, "w1", [{ type: "access", kbId: "a", aclId: 1 }]);
      expect(await ids(ask({ query: "draft" }))).toEqual(["a", "b"]);
    }));

  test("with few items that have all words, items with some of them follow, and the totals say so", () =>
    withIndex(async (t) => {
      const texts = { all: "red green blue", two: "red green", one: "red" };
      await put(t, ...Object.entries(texts).map(([kbId, text]) => ({ kbId, text })));
      const answer = await t.index.search(ask({ query: "red green blue" }));
      expect(answer.hits.map((hit) => [hit.kbId, hit.position.group])).toEqual([
        ["all", 0],
        ["two", 0],
        ["one", 0],
      ]);
      expect(answer).toMatchObject({ total: 3, totalAll: 1, match: "one", isTotalExact: true });
    }));

  test("of two words, items with both come first; of more, the score alone decides, page after page", () =>
    withIndex(async (t) => {
      const filler = (count: number) => ` ${"tea ".repeat(count)}`;
      const common = Array.from({ length: 12 }, (_, i) => ({ kbId: `common${i}`, text: `green${filler(20)}` }));
      await put(
        t,
        ...common,
        { kbId: "long", text: `red blue green${filler(2_000)}` },
        { kbId: "short", text: "red blue" },
        { kbId: "red", text: "red red" },
      );
      const order = async (query: string) => {
        const ids: string[] = [];
        for (let after: SearchRequest["after"]; ;) {
          const page = await t.index.search(ask({ query, limit: 1, ...(after && { after }) }));
          ids.push(...page.hits.map((hit) => hit.kbId));
          const last = page.hits.at(-1);
          if (!page.hasMore || last === undefined) return ids;
          after = { position: last.position, match: page.match };
        }
      };
      expect((await order("red green")).slice(0, 2)).toEqual(["long", "red"]);
      const three = await order("red blue green");
      expect([three[0], three.length, new Set(three).size]).toEqual(["short", 15, 15]);
    }));

  test("with ten that have two words, one word is not enough; of two words one is, and a phrase stays whole", () =>
    withIndex(async (t) => {
      const pairs = Array.from({ length: 10 }, (_, i) => ({ kbId: `pair${i}`, text: "red green" }));
      await put(t, ...pairs, { kbId: "one", text: "red" }, { kbId: "far", text: "blue" });
      const three = await t.index.search(ask({ query: "red green blue", limit: 20 }));
      expect([three.match, three.total, three.totalAll]).toEqual(["any", 10, 0]);
      const two = await t.index.search(ask({ query: "blue green", limit: 20 }));
      expect([two.match, two.total, two.hits[0]?.kbId]).toEqual(["one", 11, "far"]);
      for (const { kbId, text } of pairs) await t.record("w1", { kbId, title: kbId, text, aclId: 1 });
      const phrase = await t.index.search(ask({ query: '"red green" blue', limit: 20 }));
      expect([phrase.match, phrase.total]).toEqual(["one", 10]);
      const phrases = await t.index.search(ask({ query: '"red green" "blue"', limit: 20 }));
      expect([phrases.match, phrases.total]).toEqual(["all", 0]);
      const nothing = await t.index.search(ask({ query: "violet purple", limit: 20 }));
      expect([nothing.match, nothing.total]).toEqual(["all", 0]);
    }));

  test("recency orders items that have all words, newest first; without any it falls back to relevance", () =>
    withIndex(async (t) => {
      await put(
        t,
        { kbId: "old", text: "red green", more: { updatedAt: 1_000 } },
        { kbId: "new", text: "red green", more: { updatedAt: 2_000 } },
        { kbId: "newest", text: "red", more: { updatedAt: 3_000 } },
      );
      const answer = await t.index.search(ask({ query: "red green", order: "recency" }));
      expect([answer.order, answer.hits.map((hit) => hit.kbId)]).toEqual(["recency", ["new", "old"]]);
      const fallback = await t.index.search(ask({ query: "red green violet", order: "recency" }));
      expect([fallback.order, fallback.match]).toEqual(["relevance", "one"]);
    }));

  test("due order lists the earliest first and items without a date last", () =>
    withIndex(async (t, ids) => {
      const task = (kbId: string, dueAt: number | null) => ({
        kbId,
        text: "x",
        more: { kind: "task" as const, dueAt },
      });
      await put(t, task("none", null), task("late", 9_000), task("soon", 1_000));
      expect(await ids(ask({ order: "due", filters: { kinds: ["task"] } }))).toEqual(["soon", "late", "none"]);
    }));

  test("filters narrow hits, totals and facets alike", () =>
    withIndex(async (t) => {
      await put(
        t,
        { kbId: "a", text: "red", more: { people: ["ent_1"], source: "git:x" } },
        { kbId: "b", text: "red", more: { people: ["ent_2"], source: "git:y" } },
      );
      const answer = await t.index.search(ask({ query: "red", filters: { people: ["ent_2"] }, facets: ["source"] }));
      expect(answer).toMatchObject({ total: 1, facets: { source: [{ value: "git:y", count: 1 }] } });
    }));

  test("pairs of fields are all met, numbers by value, dates by day, month and year, and hidden items stay hidden", () =>
    withIndex(async (t, ids) => {
      const fields = (value: Parameters<typeof fieldTerms>[0]) => ({ fields: fieldTerms(value) });
      await put(
        t,
        { kbId: "a", text: "red", more: fields({ status: "Draft", pages: 12, created: "2024-03-05T23:00:00-05:00" }) },
        { kbId: "b", text: "red", more: fields({ status: "draft", pages: "12", tags: ["Zwölf Monate", "x"] }) },
        { kbId: "c", text: "red", aclId: 2, more: fields({ status: "draft", secret: true }) },
      );
      const found = (...fields: FieldFilter[]) => ids(ask({ query: "red", filters: { fields } }));
      const both = async (isMerged: boolean) => {
        if (isMerged) await t.upkeep("w1");
        expect(await found({ key: "status", value: "DRAFT" })).toEqual(["a", "b"]);
        expect(await found({ key: "Status", value: "draft" }, { key: "pages", value: "12.0" })).toEqual(["a"]);
        expect(await found({ key: "pages", value: "12" })).toEqual(["a", "b"]);
        for (const value of ["2024", "2024-03", "2024-03-05"])
          expect(await found({ key: "created", value })).toEqual(["a"]);
        expect(await found({ key: "created", value: "2024-03-06" })).toEqual([]);
        expect(await found({ key: "tags", value: "zwolf  monate" })).toEqual(["b"]);
        expect(await found({ key: "secret", value: "true" })).toEqual([]);
        expect(await found({ key: "", value: "draft" })).toEqual([]);
      };
      await both(false);
      await both(true);
    }));

  test("pages follow each other without gaps or repeats", () =>
    withIndex(async (t) => {
      const kbIds = Array.from({ length: 25 }, (_, i) => `k${String(i).padStart(2, "0")}`);
      await put(t, ...kbIds.map((kbId) => ({ kbId, text: "red" })));
      const seen: string[] = [];
      let page = await t.index.search(ask({ query: "red" }));
      for (;;) {
        seen.push(...page.hits.map((hit) => hit.kbId));
        const last = page.hits.at(-1);
        if (!page.hasMore || last === undefined) break;
        page = await t.index.search(ask({ query: "red", after: { position: last.position, match: page.match } }));
      }
      expect(seen).toEqual(kbIds);
    }));

  /** An item in the records and in the index, which may disagree about its access. */
  const store = async (t: SearchIndexUnderTest, { aclId = 1, ...spec }: Partial<RecordSpec> & { kbId: string }) => {
    const { kbId, title = kbId, text = "red" } = spec;
    await t.record("w1", { kbId, title, text, aclId });
    await put(t, { kbId, title, text });
  };

  test("what is shown is the record and the best passage, what is pinned before the hits and only once", () =>
    withIndex(async (t) => {
      await store(t, { kbId: "a", title: "Notes", text: "green\n\nthe red lamp" });
      await store(t, { kbId: "b", title: "Red", text: "red" });
      await store(t, { kbId: "c", text: "blue" });
      const answer = await t.index.show(askShow({ query: "red", pinned: ["c", "a"] }));
      const shown = answer?.shown.map(({ item, position }) => [item.kbId, item.title, position?.kbId]);
      expect(shown).toEqual([
        ["c", "c", undefined],
        ["a", "Notes", undefined],
        ["b", "Red", "b"],
      ]);
      const [passage] = answer?.shown[1]?.passages ?? [];
      const [mark] = passage?.highlights ?? [];
      expect(passage?.text.slice(mark?.start, mark?.end)).toBe("red");
      expect(answer).toMatchObject({ total: 2, refused: 0 });
      expect((await t.index.show(askShow({ query: "red", limit: 0 })))?.shown.slice(0, 1)).toEqual([]);
    }));

  test("a hit that the records refuse, or do not have, is not shown, nor is what is pinned; the next takes its place", () =>
    withIndex(async (t) => {
      await store(t, { kbId: "a", aclId: 0 });
      await store(t, { kbId: "b", aclId: 2 });
      await put(t, { kbId: "c", text: "red" });
      await store(t, { kbId: "d" });
      const kbIds = async (request: Parameters<typeof askShow>[0]) => {
        const answer = await t.index.show(askShow({ query: "red", limit: 1, ...request }));
        return [answer?.shown.map(({ item }) => item.kbId), answer?.refused];
      };
      expect(await kbIds({})).toEqual([["d"], 3]);
      expect(await kbIds({ pinned: ["b"] })).toEqual([["d"], 3]);
      expect(await kbIds({ principals: ["bob", "everyone", "staff"] })).toEqual([["b", "d"], 2]);
    }));

  test("nothing is shown to a viewer of another epoch", () =>
    withIndex(async (t) => {
      await store(t, { kbId: "a" });
      expect((await t.index.show(askShow({ query: "red" })))?.shown.length).toBe(1);
      const viewer = { principals: ["everyone"], epoch: 2 };
      expect(await t.index.show(askShow({ query: "red", viewer }))).toBeUndefined();
    }));

  test("upkeep changes no answer", () =>
    withIndex(async (t) => {
      await put(t, { kbId: "a", text: "red green" }, { kbId: "b", text: "red" });
      const request = ask({ query: "red", facets: ["kind"] });
      const before = await t.index.search(request);
      await t.upkeep("w1");
      expect({ ...(await t.index.search(request)), tookMs: 0 }).toEqual({ ...before, tookMs: 0 });
    }));
}
