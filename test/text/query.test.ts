import { expect, test } from "vitest";
import { parseQuery, type QueryUnit } from "#text/query.ts";

const show = (unit: QueryUnit): string => {
  switch (unit.type) {
    case "word":
      return unit.term;
    case "prefix":
      return `${unit.prefix}*`;
    case "phrase":
      return `"${unit.words.map((word) => word.exactTerm).join(" ")}"`;
  }
};
const units = (query: string) => parseQuery(query).units.map(show);
const excluded = (query: string) => parseQuery(query).excluded.map(show);

test("words, phrases, prefixes and exclusions are told apart", () => {
  expect(units('payment "retry policy" web*')).toEqual(["payment", '"=retry =policy"', "web*"]);
  expect(units("refund -draft")).toEqual(["refund"]);
  expect(excluded('refund -draft -"old price"')).toEqual(["draft", '"old price"']);
});

test("a minus excludes only at a word start before a letter or quote, and never twice", () => {
  expect(excluded("npm --no-cache -5 well-known - word")).toEqual([]);
  expect(units("npm --no-cache")).toEqual(["npm", "no", "cach"]);
});

test("a quote without a partner is a plain character", () => {
  expect(units('5" screen')).toEqual(["5", "screen"]);
  expect(units('say "hello')).toEqual(["say", "hello"]);
});

test("curly quotes are quotes", () => {
  expect(units("“late fee”")).toEqual(['"late fee"']);
});

test("AND is ignored, OR is a word, stop words are dropped unless quoted or alone", () => {
  expect(units("cats AND dogs")).toEqual(["cat", "dog"]);
  expect(units("cats OR dogs")).toEqual(["cat", "dog"]);
  expect(units("what is the budget")).toEqual(["budget"]);
  expect(units("the who")).toEqual(["the", "who"]);
  expect(units('"the who" tour')).toEqual(['"the who"', "tour"]);
});

test("stack traces, addresses and code are words", () => {
  expect(units("TypeError: x is not a function")).toEqual(["typeerror", "x", "function"]);
  expect(units("https://acme.test/a/b?q=1")).toEqual(["https", "acme.test/a/b", "q", "1"]);
  expect(units("C++ foo:bar")).toEqual(["c++", "foo", "bar"]);
});

test("an identifier carries its parts for the case that it occurs nowhere whole", () => {
  const [unit] = parseQuery("server/main.ts").units;
  const parts = unit?.type === "word" ? unit.parts : [];
  expect(parts.map(show)).toEqual(["server", "main.ts"]);
});

test("a query in a script without spaces is its pairs; one character alone is a prefix", () => {
  expect(units("議事録")).toEqual(["議事", "事録"]);
  expect(units("車")).toEqual(["車*"]);
});

test("at most 64 telling words and 4 prefixes are taken, and the cut is told", () => {
  const long = parseQuery(Array.from({ length: 80 }, (_, i) => `w${i}`).join(" "));
  expect([long.units.length, long.isCut]).toEqual([64, true]);
  // What says nothing, or was said already, takes nobody's place.
  const wordy = parseQuery(Array.from({ length: 60 }, (_, i) => `what is the w${i} of w0`).join(" "));
  expect([wordy.units.length, wordy.isCut]).toEqual([60, false]);
  const prefixes = parseQuery("aa* bb* cc* dd* ee* ff");
  expect(prefixes.units.map(show)).toEqual(["aa*", "bb*", "cc*", "dd*", "ff"]);
  expect(prefixes.isCut).toBe(true);
  expect(parseQuery("a b").isCut).toBe(false);
  // Never a query for everything.
  const [only] = parseQuery(`"${Array.from({ length: 80 }, (_, i) => `w${i}`).join(" ")}"`).units;
  expect(only?.type === "phrase" && only.words.length).toBe(64);
});

test("the same thing asked twice counts once", () => {
  expect(units("error errors ERROR")).toEqual(["error"]);
});
