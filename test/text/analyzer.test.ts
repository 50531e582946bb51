import { createRequire } from "node:module";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { analyzeDocument } from "#text/analyzer.ts";
import { stemEnglish } from "#text/stem-english.ts";
import { makeTokenizer } from "#text/tokenize.ts";

const tokenizer = makeTokenizer();
const terms = (text: string) => tokenizer.tokenize(text).map((token) => token.term);
const words = (text: string) =>
  tokenizer
    .tokenize(text)
    .filter((token) => !token.isExtra)
    .map((token) => token.exactTerm.replace(/^=/, ""));

test("weights are 4 for the title, 2 for path and labels, 1 for the text, capped at 255", () => {
  const analyzed = analyzeDocument({ title: "disk", path: ["disk"], labels: ["red"], text: "disk full" });
  expect(analyzed.terms).toBe("disk\nfull\nred");
  expect([...analyzed.weights]).toEqual([7, 1, 2]);
  expect(analyzed.length).toBe(10);
  const long = analyzeDocument({ title: "", path: [], labels: [], text: "disk ".repeat(300) });
  expect([long.weights[0], long.length]).toEqual([255, 300]);
});

test("a word is stored by its stem and, where they differ, as written; only the stem counts in the length", () => {
  const analyzed = analyzeDocument({ title: "", path: [], labels: [], text: "running runs run" });
  expect(analyzed.terms.split("\n")).toEqual(["=running", "=runs", "run"]);
  expect([...analyzed.weights]).toEqual([1, 1, 3]);
  expect(analyzed.length).toBe(3);
});

test("identifiers come whole and split", () => {
  expect(terms("XMLHttpRequest")).toEqual(["xmlhttprequest", "xml", "http", "request"]);
  expect(terms("max_open_files")).toEqual(["max_open_files", "max", "open", "file"]);
  expect(terms("ABC-123")).toEqual(["abc-123", "abc", "123"]);
  expect(terms("node.js")).toEqual(["node.js", "node", "js"]);
  expect(terms("src/main.ts")).toEqual(["src/main.ts", "src", "main.ts", "main", "ts"]);
  expect(terms("anna@acme.com")).toContain("anna@acme.com");
  expect(terms("C++ or C#?")).toEqual(["c++", "or", "c#"]);
});

test("hyphenated words, possessives, flags and trailing stops are plain words", () => {
  expect(terms("well-known")).toEqual(["well", "known"]);
  expect(words("Anna's don't O’Brien")).toEqual(["anna", "dont", "obrien"]);
  expect(words("--no-cache. End.")).toEqual(["no", "cache", "end"]);
});

test("case, accents, ligatures and widths do not matter", () => {
  expect(words("ÉCOLE Straße Łódź ﬁne ＡＢＣ Øre naïve ΣΊΣΥΦΟΣ")).toEqual(
    words("ecole strasse lodz fine abc ore naive σισυφοσ"),
  );
});

test("scripts without spaces are cut into pairs of characters, marks included", () => {
  expect(terms("日本語")).toEqual(["日本", "本語", "語"]);
  expect(terms("車")).toEqual(["車"]);
  expect(terms("𠀀𠀁")).toEqual(["𠀀𠀁", "𠀁"]);
  expect(terms("ที่นี่")[0]).toBe("ที่นี่");
  expect(words("ﾃﾞｰﾀ")).toEqual(words("データ"));
});

test("tokens stand where they say, in any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
      let position = 0;
      for (const token of tokenizer.tokenize(text)) {
        expect(token.start).toBeLessThan(token.end);
        expect(token.end).toBeLessThanOrEqual(text.length);
        expect(token.term).not.toMatch(/[\s=\p{Cc}]/u);
        expect(token.position).toBeGreaterThanOrEqual(position - 1);
        position = token.position;
      }
    }),
    { numRuns: 300 },
  );
});

test("the stemmer agrees with the Snowball package on every word it is given", () => {
  // CommonJS without types: the one function that is used.
  const snowball = createRequire(import.meta.url)("snowball-stemmers") as {
    newStemmer(language: string): { stem(word: string): string };
  };
  const reference = snowball.newStemmer("english");
  const stems = [
    "gener",
    "commun",
    "run",
    "hop",
    "hope",
    "hopp",
    "authent",
    "rational",
    "sky",
    "y",
    "say",
    "feed",
    "agre",
    "luxuri",
    "tr",
  ];
  const endings =
    "s es ed eed ing ingly edly ly ational tional ization izer fulness ousness iveness biliti lessli entli alism icate iciti ative ical ness ful ement ance ible ant ism ion tion e ll ee us ss ies ied y".split(
      " ",
    );
  for (const stem of stems) {
    for (const ending of endings) {
      const word = stem + ending;
      if (word.length > 2) expect([word, stemEnglish(word)]).toEqual([word, reference.stem(word)]);
    }
  }
  const letters = fc.string({ unit: fc.constantFrom(..."aeiouybdglmnrstvwx"), minLength: 3, maxLength: 9 });
  fc.assert(
    fc.property(letters, fc.constantFrom("", ...endings), (stem, ending) => {
      expect(stemEnglish(stem + ending)).toBe(reference.stem(stem + ending));
    }),
    { numRuns: 1500 },
  );
});
