import * as fc from "fast-check";
import { expect, test } from "vitest";
import { fieldTerms } from "#text/field-terms.ts";
import type { IndexReader } from "#storage/index/read/reader.ts";
import type { IndexedDocument, SearchRequest, SearchResponse } from "#storage/search-index.ts";
import { oracleSearch, type OracleWorkspace } from "./oracle.ts";
import { makeRandom } from "../../bench/search-corpus.ts";
import { makeDocument, makeRequest, TestIndex } from "./world.ts";
import { runs } from "../../runs.ts";

const PRINCIPALS = ["ann", "bob", "cat", "everyone"];
const WORDS = [
  "alpha",
  "beta",
  "gamma",
  "running",
  "run",
  "runs",
  "fooBar",
  "ABC-12",
  "a.b/c",
  "the",
  "日本語",
  "alphabet",
];
const WORKSPACES = ["w1", "w2"];

/** Fixed accesses, and two that come to exist only later. */
const ACCESSES: Record<number, string[][]> = {
  1: [["everyone"]],
  2: [["ann", "bob"], ["cat"]],
  3: [["ann"], []],
  4: [],
  5: [["bob"]],
  6: [["ann"], ["bob", "everyone"], ["cat", "everyone"]],
};

const word = fc.constantFrom(...WORDS);
/** Letters that ids have: many begin alike, and end with the alphabet's last. */
const kbId = fc
  .integer({ min: 0, max: 30 })
  .map((n) => `kbi_${[...n.toString(4)].map((digit) => "2ayz"[Number(digit)]).join("")}`);
const day = fc.option(fc.integer({ min: 0, max: 90 }).map((n) => 1_700_000_000_000 + n * 86_400_000));
const person = fc.constantFrom("ent_a", "ent_b", "ent_c");

const fields = fc.dictionary(
  fc.constantFrom("status", "Due date", "pages", "tags"),
  fc.oneof(
    fc.constantFrom("draft", "Final", "1.10", "2024-03-05", "2024-04-01T10:00:00Z"),
    fc.constantFrom(12, 1.1, true),
    fc.array(fc.constantFrom("x", "Ana <ana@one.test>"), { maxLength: 2 }),
  ),
  { maxKeys: 3 },
);
const pair = fc.record({
  key: fc.constantFrom("status", "due_date", "PAGES", "tags", "nothing"),
  value: fc.constantFrom("draft", "final", "1.10", "1.1", "12", "2024", "2024-03", "true", "x", "ana@one.test", ""),
});

const item = fc.record({
  kbId,
  title: fc.array(word, { maxLength: 2 }).map((words) => words.join(" ")),
  text: fc.array(word, { maxLength: 12 }).map((words) => words.join(" ")),
  aclId: fc.integer({ min: 0, max: 7 }),
  more: fc.record({
    kind: fc.constantFrom("task" as const, "file" as const, "page" as const),
    status: fc.constantFrom("open" as const, "done" as const, null),
    source: fc.constantFrom("git:a", "git:b", "web:c"),
    connectorId: fc.constantFrom("con_1", "con_2"),
    updatedAt: day,
    createdAt: day,
    dueAt: day,
    people: fc.array(person, { maxLength: 2 }),
    assignees: fc.array(person, { maxLength: 1 }),
    containers: fc.array(fc.constantFrom("ent_x", "ent_y"), { maxLength: 2 }),
    fields: fields.map(fieldTerms),
  }),
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("upsert" as const),
      items: fc.array(item, { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("bulk" as const),
      items: fc.array(item, { minLength: 1, maxLength: 12 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("remove" as const), kbId }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("access" as const), kbId, aclId: fc.integer({ min: 0, max: 7 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("compact" as const), slices: fc.integer({ min: 1, max: 12 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("settle" as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("rebuild" as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("reopen" as const), isReader: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("drop" as const) }) },
);

const piece = fc.oneof(
  { weight: 8, arbitrary: word },
  { weight: 1, arbitrary: fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => `"${words.join(" ")}"`) },
  { weight: 1, arbitrary: word.map((text) => `-${text}`) },
  { weight: 1, arbitrary: fc.array(word, { minLength: 1, maxLength: 2 }).map((words) => `-"${words.join(" ")}"`) },
  { weight: 1, arbitrary: fc.constantFrom("al*", "ru*", "foo*", "日", "zz*", "unheard", "b.c/d") },
);

const some = <T>(value: fc.Arbitrary<T>) => fc.array(value, { minLength: 1, maxLength: 2 });
const question = fc.record({
  query: fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(" ")),
  principals: fc.subarray(PRINCIPALS),
  order: fc.constantFrom("relevance" as const, "relevance" as const, "recency" as const, "due" as const),
  limit: fc.integer({ min: 0, max: 12 }),
  filters: fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    {
      weight: 2,
      arbitrary: fc.record(
        {
          kinds: some(fc.constantFrom("task" as const, "file" as const)),
          status: fc.constantFrom("open" as const, "done" as const),
          sources: some(fc.constantFrom("git:a", "web:c", "none")),
          connectorIds: some(fc.constantFrom("con_1", "con_3")),
          people: some(person),
          assignees: some(person),
          containers: some(fc.constantFrom("ent_x", "ent_z")),
          fields: some(pair),
          kbIds: fc.array(kbId, { maxLength: 12 }),
          dateField: fc.constantFrom("updated" as const, "created" as const, "due" as const),
          from: fc.constantFrom(1_700_000_000_000, 1_704_000_000_000),
          until: fc.constantFrom(1_705_000_000_000, 1_707_000_000_000),
        },
        { requiredKeys: [] },
      ),
    },
  ),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class Model {
  readonly index = new TestIndex();
  readonly workspaces = new Map<string, OracleWorkspace>();
  reader: IndexReader;

  constructor() {
    for (const workspaceId of WORKSPACES) {
      this.workspaces.set(workspaceId, { documents: new Map(), accesses: new Map(), texts: new Map() });
      // In another order in each workspace: the numbers mean nothing outside of it.
      for (const [aclId, lists] of Object.entries(ACCESSES)) {
        this.define(workspaceId, workspaceId === "w1" ? Number(aclId) : 7 - Number(aclId), lists);
      }
    }
    this.reader = this.index.openReader();
  }

  define(workspaceId: string, aclId: number, lists: readonly (readonly string[])[]): void {
    this.index.access(workspaceId, aclId, lists);
    this.of(workspaceId).accesses.set(aclId, lists);
  }

  of(workspaceId: string): OracleWorkspace {
    const workspace = this.workspaces.get(workspaceId);
    if (workspace === undefined) throw new Error(`No workspace ${workspaceId}`);
    return workspace;
  }

  take(workspaceId: string, step: Step): void {
    const { documents } = this.of(workspaceId);
    switch (step.type) {
      case "upsert":
        this.read(step.items, workspaceId);
        break;
      case "bulk": {
        const changed = step.items.map((spec) => this.#remember(workspaceId, spec));
        this.index.transaction(() => this.index.writer.bulk(workspaceId, changed));
        break;
      }
      case "remove":
        documents.delete(step.kbId);
        this.index.apply(workspaceId, [step]);
        break;
      case "access": {
        const document = documents.get(step.kbId);
        if (document !== undefined) documents.set(step.kbId, { ...document, aclId: step.aclId });
        this.index.apply(workspaceId, [step]);
        break;
      }
      case "compact":
        for (let i = 0; i < step.slices; i++) this.index.writer.nextCompactionSlice();
        break;
      case "settle":
        this.index.compactAll();
        break;
      case "rebuild":
        this.index.transaction(() => [...this.index.writer.rebuild(workspaceId, documents.values())]);
        break;
      case "reopen":
        if (step.isReader) this.reader = this.index.openReader();
        else this.index.reopenWriter();
        break;
      case "drop":
        documents.clear();
        this.index.transaction(() => this.index.writer.dropWorkspace(workspaceId));
    }
  }

  /** Takes items in, as a sync does that read them. */
  read(items: readonly Parameters<typeof makeDocument>[0][], workspaceId = "w1"): void {
    const changes = items.map((spec) => ({ type: "upsert" as const, document: this.#remember(workspaceId, spec) }));
    this.index.apply(workspaceId, changes);
  }

  #remember(workspaceId: string, spec: Parameters<typeof makeDocument>[0]): IndexedDocument {
    const document = makeDocument(spec);
    const workspace = this.of(workspaceId);
    workspace.documents.set(spec.kbId, document);
    const fields = [spec.title ?? "", spec.text ?? ""];
    workspace.texts.set(spec.kbId, fields);
    this.index.texts.set(`${workspaceId} ${spec.kbId}`, fields);
    return document;
  }
}

/** Everything but the time; scores to a millionth, the rest to the letter. */
function expectSame(actual: SearchResponse, expected: Omit<SearchResponse, "tookMs">): void {
  const rounded = (hits: SearchResponse["hits"]) => hits.map(({ kbId, position: { group } }) => ({ kbId, group }));
  const { tookMs: _, ...rest } = actual;
  expect({ ...rest, hits: rounded(actual.hits) }).toEqual({ ...expected, hits: rounded(expected.hits) });
  actual.hits.forEach((hit, i) => {
    expect(Math.abs(hit.score - (expected.hits[i]?.score ?? Number.NaN))).toBeLessThan(1e-6);
    expect(Math.abs(hit.position.value - (expected.hits[i]?.position.value ?? Number.NaN))).toBeLessThan(1e-6);
  });
}

function expectPages(model: Model, request: SearchRequest): void {
  const workspace = model.of(request.workspaceId);
  const whole = oracleSearch(workspace, { ...request, limit: 200 });
  let response = model.reader.search(request);
  expectSame(response, oracleSearch(workspace, request));
  const seen = response.hits.map((hit) => hit.kbId);
  while (response.hasMore && request.limit > 0) {
    const last = response.hits.at(-1);
    if (last === undefined) throw new Error("More hits, but none shown");
    const after = { position: last.position, match: response.match, hasFeedback: response.hasFeedback };
    response = model.reader.search({ ...request, after });
    seen.push(...response.hits.map((hit) => hit.kbId));
    expect(response.total).toBe(whole.total);
  }
  if (request.limit > 0) expect(seen).toEqual(whole.hits.map((hit) => hit.kbId));
}

const SEED = process.env.KB_TEST_SEED;

test("search gives what the formula gives by brute force, whatever was changed, compacted, rebuilt or reopened before", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom("w1", "w1", "w1", "w2"), step, fc.array(question, { maxLength: 3 })), {
        minLength: 4,
        maxLength: 30,
      }),
      (steps) => {
        const model = new Model();
        try {
          for (const [i, [workspaceId, step, questions]] of steps.entries()) {
            // A late access: readers extend what they know.
            if (i === 8) model.define("w1", 7, [["cat"], ["everyone", "bob"]]);
            model.take(workspaceId, step);
            for (const { principals, ...asked } of questions) {
              const facets = ["kind", "source", "provider", "person", "status", "month"] as const;
              const request = makeRequest({ ...asked, principals, facets });
              expectPages(model, { ...request, workspaceId });
            }
            // Sometimes there is a pause, for some of the changes.
            if (i % 3 === 1) model.reader.readSome(2);
            if (i % 4 === 2) model.reader.follow();
          }
        } finally {
          model.index.close();
        }
      },
    ),
    { numRuns: runs(15), ...(SEED !== undefined && { seed: Number(SEED) }) },
  );
});

test("items whose words are another's exchanged stand in the same order, to the last digit of their sums", () => {
  const words = ["alpha", "delta", "foo_bar", "beta", "gamma"];
  const exchanged: Record<string, string> = { alpha: "delta", delta: "alpha" };
  // Worlds in which a sum made in another order put an item before its equal.
  for (const seed of [64, 114]) {
    const random = makeRandom(seed);
    const pick = (count: number) => Math.floor(random() * count);
    const model = new Model();
    const documents = new Map<string, string>();
    for (let i = 0; i < 30; i++) {
      const own = Array.from({ length: 2 + pick(4) }, () => words[pick(words.length)] ?? "");
      const other = own.map((word) => exchanged[word] ?? word);
      documents.set(`kbi_${i}`, own.join(" ")).set(`kbi_${i}_exchanged`, other.join(" "));
    }
    model.read([...documents].map(([kbId, text]) => ({ kbId, text })));
    expectPages(model, { ...makeRequest({ query: "foo_bar delta alpha", limit: 100 }), workspaceId: "w1" });
    model.index.close();
  }
});

test("words of the first hits change the order of what matches as the formula says, on every page", () => {
  const words = Array.from({ length: 30 }, (_, i) => `word${i}`);
  let fed = 0;
  for (let seed = 1; seed <= runs(6); seed++) {
    const random = makeRandom(seed);
    // Some words are far more common than others, and each topic has words of its own.
    const pick = () => words[Math.floor(random() ** 2 * words.length)] ?? "";
    const about = (topic: number) => (random() < 0.4 ? `topic${topic}x${Math.floor(random() * 12)}` : pick());
    const some = (most: number, topic: number) =>
      Array.from({ length: 1 + Math.floor(random() * most) }, () => about(topic)).join(" ");
    const model = new Model();
    const items = Array.from({ length: 110 }, (_, i) => {
      return { kbId: `kbi_${i}`, title: some(2, i % 12), text: some(30, i % 12), aclId: i % 5 === 0 ? 3 : 1 };
    });
    model.read(items.slice(0, 90));
    if (seed % 2 === 0) model.index.compactAll();
    model.read(items.slice(80));
    for (let i = 0; i < 20; i++) {
      const query = Array.from({ length: 3 + Math.floor(random() * 4) }, () => about(i % 12)).join(" ");
      const filters = i % 4 === 0 ? { kbIds: items.slice(0, 85).map(({ kbId }) => kbId) } : {};
      const request = makeRequest({ query, filters, limit: 1 + Math.floor(random() * 14), facets: ["kind"] });
      expectPages(model, request);
      if (model.reader.search(request).hasFeedback) fed++;
    }
    model.index.close();
  }
  expect(fed).toBeGreaterThan(20);
});
