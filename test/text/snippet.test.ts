import * as fc from "fast-check";
import { expect, test } from "vitest";
import { makeMarks } from "#text/marks.ts";
import { bestSnippets, findPassages, type TextChunk } from "#text/snippet.ts";

const chunk = (text: string): TextChunk[] => [{ start: 0, text }];
const marked = (passage: { text: string; highlights: { start: number; end: number }[] }) =>
  passage.highlights.map(({ start, end }) => passage.text.slice(start, end));

const FILLER = "Nothing of interest stands in this sentence at all. ".repeat(20);

test("a snippet is the whole sentences around the words of the query", () => {
  const text = `${FILLER}Payments retry for 24 hours. After that they fail for good. ${FILLER}`;
  const [snippet] = bestSnippets(chunk(text), makeMarks("retry payment"), { maxChars: 80 });
  expect(snippet?.text).toBe("Payments retry for 24 hours. After that they fail for good.");
  expect(snippet?.at).toBe(FILLER.length);
  expect(snippet && marked(snippet)).toEqual(["Payments", "retry"]);
});

test("a window with all words wins over one with a word repeated", () => {
  const text = `retry retry retry retry. ${FILLER} The webhook will retry. ${FILLER}`;
  const [snippet] = bestSnippets(chunk(text), makeMarks("webhook retry"), { maxChars: 60 });
  expect(snippet?.text).toContain("The webhook will retry.");
});

test("a rare word weighs more than a common one", () => {
  const text = `error here. ${FILLER}error there. ${FILLER}quota gone. ${FILLER}error again.`;
  const [snippet] = bestSnippets(chunk(text), makeMarks("error quota"), { maxChars: 40 });
  expect(snippet?.text).toContain("quota");
});

test("several snippets come in the order of the text and do not overlap", () => {
  const text = `alpha one. ${FILLER}${FILLER}beta two. ${FILLER}${FILLER}alpha beta three.`;
  const found = bestSnippets(chunk(text), makeMarks("alpha beta"), { maxChars: 100, count: 3 });
  expect(found.map((each) => marked(each))).toEqual([["alpha"], ["beta"], ["alpha", "beta"]]);
});

test("without a match the beginning is shown", () => {
  const [snippet] = bestSnippets(chunk("\n\nFirst words. More words follow here."), makeMarks("zebra"), {
    maxChars: 24,
  });
  expect(snippet).toEqual({ at: 2, text: "First words. More words", highlights: [] });
});

test("find gives at most eight passages of 600 characters and says how many there are", () => {
  const text = Array.from({ length: 12 }, (_, i) => `Needle ${i}. ${FILLER}`).join("");
  const { passages, total } = findPassages(chunk(text), makeMarks("needle"));
  expect(total).toBe(12);
  expect(passages).toHaveLength(8);
  expect(Math.max(...passages.map((each) => each.text.length))).toBeLessThanOrEqual(600);
  expect(passages.every((each) => text.startsWith(each.text, each.at))).toBe(true);
});

test("find looks for a phrase literally and a word by its stem", () => {
  const text = `the runner. ${FILLER}they were running late. ${FILLER}late, running.`;
  expect(findPassages(chunk(text), makeMarks('"running late"')).passages.map(marked)).toEqual([["running late"]]);
  expect(findPassages(chunk(text), makeMarks("runs")).total).toBe(2);
});

test("a word and a phrase on the seam of two chunks are found once", () => {
  const text = `${FILLER}alpha beta gamma${FILLER}`;
  for (const seam of [FILLER.length + 3, FILLER.length + 5, FILLER.length + 6, FILLER.length + 10]) {
    const chunks = [
      { start: 0, text: text.slice(0, seam) },
      { start: seam, text: text.slice(seam) },
    ];
    const { passages, total } = findPassages(chunks, makeMarks('"alpha beta"'));
    expect([seam, total, passages[0] && text.startsWith(passages[0].text, passages[0].at)]).toEqual([seam, 1, true]);
  }
});

test("offsets name the passage in the text and never cut a surrogate pair, whatever the text", () => {
  const piece = fc.constantFrom("alpha", "😀", "𠀀𠀁", " ", ". ", "beta ", "é", "\n", "日本語", "x".repeat(40));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 200 }), fc.integer({ min: 5, max: 120 }), (pieces, maxChars) => {
      const text = pieces.join("");
      const passages = [
        ...bestSnippets(chunk(text), makeMarks("alpha 日本"), { maxChars, count: 3 }),
        ...findPassages(chunk(text), makeMarks("beta 𠀀")).passages,
      ];
      for (const { at, text: shown } of passages) {
        expect(text.slice(at, at + shown.length)).toBe(shown);
        expect(/^[\udc00-\udfff]|[\ud800-\udbff]$/.test(shown)).toBe(false);
      }
    }),
    { numRuns: 200 },
  );
});
