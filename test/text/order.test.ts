import * as fc from "fast-check";
import { test } from "vitest";
import { orderOf } from "#text/order.ts";

const inOrder = (texts: readonly string[]) => Array.from(orderOf(texts), (at) => texts[at]);
const word = fc.string({
  unit: fc.constantFrom("a", "b", "=", "\u0000", "\u007e", "\u007f", "é", "ñ", "\uffff", "😀"),
  maxLength: 8,
});

test("texts are ordered by their UTF-16 code units, whatever they begin with", ({ expect }) => {
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), (texts) => {
      expect(inOrder(texts)).toEqual(texts.toSorted());
    }),
  );
});

test("more texts than places in a key are in the same order", ({ expect }) => {
  const texts = Array.from({ length: 2 ** 18 + 1 }, (_, at) => `word${(at * 7_919) % 262_147}`);
  expect(inOrder(texts)).toEqual(texts.toSorted());
  expect(inOrder(texts.slice(0, 50_000))).toEqual(texts.slice(0, 50_000).toSorted());
});
