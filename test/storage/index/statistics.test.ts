import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { COMPACTION_LIMITS } from "#storage/index/write/compaction.ts";
import type { IndexReader } from "#storage/index/read/reader.ts";
import { type ItemSpec, makeDocument, makeRequest, TestIndex } from "./world.ts";
import { runs } from "../../runs.ts";

const opened: TestIndex[] = [];
const make = (limits?: typeof COMPACTION_LIMITS) => {
  const index = new TestIndex(limits);
  index.access("w1", 1, [["everyone"]]);
  index.access("w1", 2, [["bob"]]);
  opened.push(index);
  return index;
};

afterEach(() => opened.splice(0).forEach((index) => index.close()));

/** Everything that an answer says but the time, to the last bit of its scores. */
function answerOf(reader: IndexReader, query: string): string {
  const request = makeRequest({ query, limit: 200, facets: ["kind", "source", "person"], isExplained: true });
  return JSON.stringify({ ...reader.search(request), tookMs: 0 });
}

test("a person who adds items until a weight would flip learns nothing about how many hidden ones have a word", () => {
  const index = make(COMPACTION_LIMITS);
  const put = (prefix: string, count: number, spec: Partial<ItemSpec>) => {
    const document = makeDocument({ kbId: "", ...spec });
    const documents = Array.from({ length: count }, (_, i) => ({ ...document, kbId: `${prefix}${i}` }));
    index.transaction(() => index.writer.bulk("w1", documents));
  };
  // More visible items with the word than there are to narrow it down, and rivals whose place hangs on its weight.
  put("kbi_v", 4_201, { text: "common" });
  put("kbi_r", 5_000, { text: "rival pad" });
  const reader = index.openReader();
  const questions = ["common", "common rival", "common rival pad", "common pad nothing", '"common" rival'];
  const before = questions.map((query) => answerOf(reader, query));
  // Below, at and above each power of two of the word's items in all.
  for (const [round, count] of [3_990, 2, 1, 300, 8_000].entries()) {
    put(`kbi_h${round}_`, count, { text: "common rival", aclId: 2 });
    expect(questions.map((query) => answerOf(reader, query))).toEqual(before);
  }
});

const WORDS = ["alpha", "alphabet", "beta", "gamma", "foo_bar"];
const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }).map((words) => words.join(" "));
const change = fc.record({
  place: fc.integer({ min: 0, max: 9 }),
  text,
  act: fc.constantFrom("put" as const, "put" as const, "put" as const, "remove" as const),
});
/** Hidden items come before what is seen, in its midst and after it; one change can bring dozens. */
const step = fc.record({
  seen: fc.array(change, { maxLength: 4 }),
  hidden: fc.array(change, { maxLength: 3 }),
  copies: fc.constantFrom(1, 2, 12),
  slices: fc.integer({ min: 0, max: 8 }),
});

test("order, scores, totals and facets are the same to the last bit however many hidden items there are", () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 5 }),
      fc.array(fc.array(fc.constantFrom(...WORDS, "alph*", '"beta gamma"', "-beta"), { minLength: 1, maxLength: 4 }), {
        minLength: 1,
        maxLength: 4,
      }),
      (steps, questions) => {
        const [without, withHidden] = [make(), make()];
        // Brought forward from step to step, as a server's are.
        const readers = [without.openReader(), withHidden.openReader()];
        for (const { seen, hidden, copies, slices } of steps) {
          for (const one of hidden) {
            for (let n = 0; n < copies; n++) take(withHidden, `kbi_h${one.place}_${n}`, one, 2);
          }
          for (const index of [without, withHidden]) {
            for (const one of seen) take(index, `kbi_v${one.place}`, one, 1);
            for (let n = 0; n < slices; n++) index.writer.nextCompactionSlice();
          }
          for (const words of questions) {
            const [plain, other] = readers.map((reader) => answerOf(reader, words.join(" ")));
            expect(other).toBe(plain);
          }
        }
      },
    ),
    { numRuns: runs(8) },
  );
});

function take(index: TestIndex, kbId: string, { act, text }: { act: "put" | "remove"; text: string }, aclId: number) {
  if (act === "put") index.put("w1", { kbId, text, aclId, more: { people: [`ent_${aclId}`] } });
  else index.apply("w1", [{ type: "remove", kbId }]);
}
