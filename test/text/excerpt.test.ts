import * as fc from "fast-check";
import { describe, test } from "vitest";
import { makeMarks } from "#text/marks.ts";
import { bestSnippets } from "#text/snippet.ts";
import { likelyRanges } from "#text/excerpt.ts";

const filler = (words: number) => Array.from({ length: words }, (_, n) => `filler${n % 97}.`).join(" ");

describe("the likely parts of a text", () => {
  test("hold the best snippet of a long text, at its own offset", ({ expect }) => {
    const text = `${filler(9_000)} The payment webhook times out under load. ${filler(9_000)}`;
    const marks = makeMarks("payments webhook");
    const parts = likelyRanges([{ start: 0, text }], marks) ?? [];
    expect(parts.reduce((sum, part) => sum + part.text.length, 0)).toBeLessThan(5_000);
    const [snippet] = bestSnippets(parts, marks, { maxChars: 240, count: 1 });
    expect(snippet?.text).toContain("payment webhook");
    expect(text.slice(snippet?.at, (snippet?.at ?? 0) + 20)).toBe(snippet?.text.slice(0, 20));
  });

  test("are not told for other scripts and for words that are not there", ({ expect }) => {
    expect(likelyRanges([{ start: 0, text: "議事録" }], makeMarks("議事録"))).toBeUndefined();
    expect(likelyRanges([{ start: 0, text: "nothing of it" }], makeMarks("webhook"))).toBeUndefined();
  });

  test("are stretches of the text, in order, and split no pair", ({ expect }) => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("alpha ", "beta ", "😀", "gamma. ", "x"), { maxLength: 3_000 }), (words) => {
        const text = words.join("");
        let until = 0;
        for (const part of likelyRanges([{ start: 0, text }], makeMarks("alpha gamma")) ?? []) {
          expect(part.start).toBeGreaterThanOrEqual(until);
          until = part.start + part.text.length;
          expect(text.slice(part.start, until)).toBe(part.text);
          expect(Buffer.from(part.text, "utf8").toString("utf8")).toBe(part.text);
        }
      }),
      { numRuns: 50 },
    );
  });
});
