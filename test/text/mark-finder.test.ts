import * as fc from "fast-check";
import { expect, test } from "vitest";
import { makeMarkFinder, makeNarrow } from "#text/mark-finder.ts";
import { findMarks, makeMarks } from "#text/marks.ts";
import { stemEnglish } from "#text/stem-english.ts";

/** The marks of a text, looked for only where `narrow` says; the second time from what is known. */
function narrowed(text: string, query: string) {
  const find = makeMarkFinder(makeMarks(query));
  find(text);
  return find(text);
}

const PIECES = [
  "fly flies flying",
  "The O'Brien's don\u2019t",
  "obrien",
  "dying lies tie Die SKIES ski",
  "sensible sensibility",
  "caf\u00e9 cafe\u0301 CAFE \ufb01nd \uff26\uff29\uff2e\uff24 find",
  "src/mainFile.ts main_file mainFile",
  "C++ c# v1.2.3",
  "red  -- wombat\n\nred wombat, red",
  "so\u00adft \u200bsoft stra\u00dfe STRASSE",
  "\u043c\u043e\u0439 \u041c\u041e\u0418 \u65e5\u672c\u8a9e\u65e5\u672c \ud55c\uad6d\uc5b4 \u1112\u1161\u11ab",
  "\ud835\udc53ind a\u0301 \u2122",
  "early ugly only gently idly",
  "\n",
  " ",
  ".",
  "\u201c",
  "x",
];
const WORDS = PIECES.flatMap((piece) => piece.split(/\s+/)).filter((word) => word !== "");

test("nothing is left out: marks found in the stretches are the marks of the text", () => {
  const text = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.constantFrom(...WORDS, " ", " ")), { maxLength: 30 });
  const query = fc.oneof(
    fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }).map((words) => words.join(" ")),
    fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }).map((words) => `"${words.join(" ")}"`),
    fc.constantFrom(...WORDS).map((word) => `${word}*`),
  );
  fc.assert(
    fc.property(text, query, (pieces, asked) => {
      const whole = pieces.join("");
      expect(narrowed(whole, asked)).toEqual(findMarks(whole, makeMarks(asked)));
    }),
    { numRuns: 800 },
  );
});

test("every form of an English word is found by its stem", () => {
  const base = fc.stringMatching(/^[a-z]{1,7}$/);
  const ending = fc.constantFrom(
    ..."s es ies ied y ing ed edly ingly bly able ible ability ibility ization izer ation ational ator alism ality ful fulness".split(
      " ",
    ),
    ..."ousness iveness ivity logy logi ency ance ement ment ion tion ic ical icate ative ness er al ate ate e l ll ly".split(
      " ",
    ),
  );
  fc.assert(
    fc.property(base, ending, (stem, suffix) => {
      const word = stem + suffix;
      const query = makeMarks(stemEnglish(word)).terms.has(stemEnglish(word)) ? stemEnglish(word) : word;
      const text = `before ${word} behind`;
      expect(narrowed(text, query)).toEqual(findMarks(text, makeMarks(query)));
      expect(narrowed(text, word)).toEqual(findMarks(text, makeMarks(word)));
    }),
    { numRuns: 1_500 },
  );
});

test("a long text is looked at only where the words may stand", () => {
  const text = `${"Lorem ipsum dolor sit amet. ".repeat(1_000)}the wombat${" consectetur".repeat(1_000)}`;
  const stretches = makeNarrow(makeMarks("wombats"))(text);
  expect(stretches.map(({ start, end }) => text.slice(start, end))).toEqual(["wombat"]);
  const margin = makeNarrow(makeMarks('"the wombat"'))(text);
  expect(margin.map(({ start, end }) => text.slice(start, end).trim())).toEqual(["the wombat consectetur"]);
});
