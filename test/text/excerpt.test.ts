import * as fc from "fast-check";
import { expect, test } from "vitest";
import { excerptOf, type StoredText } from "#text/excerpt.ts";
import { makeMarks } from "#text/marks.ts";

const filler = (words: number) => Array.from({ length: words }, (_, n) => `filler${n % 97}.`).join(" ");

/** A text in chunks, and the stretches that were read. */
function stored(text: string, chunkChars = 16_000) {
  const reads: [number, number][] = [];
  const chunks = Array.from({ length: Math.ceil(text.length / chunkChars) }, (_, n) => ({
    start: n * chunkChars,
    text: text.slice(n * chunkChars, (n + 1) * chunkChars),
  }));
  const read: StoredText["read"] = (start, end) => {
    reads.push([start, end]);
    return chunks.filter((chunk) => chunk.start < end && chunk.start + chunk.text.length > start);
  };
  return { chars: text.length, read, reads };
}

test("the best passage of a long text is found wherever it is, at its own offset", () => {
  const text = `${filler(9_000)} A webhook. ${filler(20_000)} The payment webhook times out. ${filler(9_000)}`;
  const [first] = excerptOf(stored(text.slice(90_000)), makeMarks("payments webhook"), { maxChars: 240 });
  expect(first?.text).toContain("payment webhook");
  expect(text.slice(90_000).startsWith(first?.text ?? "none", first?.at)).toBe(true);
});

test("a text is read on only while no word of the query has been seen", () => {
  const early = stored(`a webhook ${filler(40_000)}`);
  excerptOf(early, makeMarks("webhook"), { maxChars: 240 });
  expect(early.reads.length).toBe(1);
  const late = stored(`${filler(40_000)} a webhook`);
  expect(excerptOf(late, makeMarks("webhook"), { maxChars: 240 })[0]?.text).toContain("a webhook");
  expect(late.reads.length).toBeGreaterThan(1);
  const none = stored("a webhook");
  expect(excerptOf(none, makeMarks("webhook"), { maxChars: 240, count: 0 })).toEqual([]);
  expect(none.reads).toEqual([]);
});

test("passages are stretches of the text that split no pair, whatever its chunks are", () => {
  const words = fc.array(fc.constantFrom("alpha ", "beta ", "\u{1f600}", "gamma. ", "x", "\u0130 "), {
    maxLength: 3_000,
  });
  fc.assert(
    fc.property(words, fc.integer({ min: 700, max: 5_000 }), (parts, chunkChars) => {
      const text = parts.join("").replaceAll("\u{1f600}", "\u{1f600} ");
      for (const passage of excerptOf(stored(text, chunkChars), makeMarks("alpha gamma"), {
        maxChars: 600,
        count: 3,
      })) {
        expect(text.slice(passage.at, passage.at + passage.text.length)).toBe(passage.text);
        for (const { start, end } of passage.highlights)
          expect(passage.text.slice(start, end)).toMatch(/^(?:alpha|gamma)$/);
      }
    }),
    { numRuns: 50 },
  );
});
