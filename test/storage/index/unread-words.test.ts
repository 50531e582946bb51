import * as fc from "fast-check";
import { expect, test } from "vitest";
import { UnreadWords } from "#storage/index/unread-words.ts";
import { runs } from "../../runs.ts";

/** Characters whose order in UTF-8 is not that of UTF-16 are among them. */
const term = fc.string({
  unit: fc.constantFrom("a", "b", "z", "é", "東", "\uE000", "\uFA0E", "\u{10428}", "\u{1F600}"),
  minLength: 1,
  maxLength: 3,
});
const document = fc.uniqueArray(term, { maxLength: 12 }).map((terms) => terms.sort());

test("a term is found in the unread documents that have it, with its weight, whatever its characters", () => {
  fc.assert(
    fc.property(fc.array(document, { minLength: 1, maxLength: 5 }), term, fc.nat(5), (documents, other, read) => {
      const words = new UnreadWords();
      words.add(encode(documents), 7);
      words.take(read, () => {});
      for (const wanted of new Set([other, ...documents.flat()])) {
        const having = documents.flatMap((terms, k) => (k >= read && terms.includes(wanted) ? [k] : []));
        const found = words.find(wanted);
        expect([...found.ids]).toEqual(having.map((k) => 7 + k));
        expect([...found.weights]).toEqual(having.map((k) => weightOf(k, documents[k]?.indexOf(wanted) ?? -1)));
      }
    }),
    { numRuns: runs(200) },
  );
});

function weightOf(document: number, place: number): number {
  return document * 20 + place + 1;
}

function encode(documents: readonly string[][]) {
  const texts = documents.map((terms) => terms.join("\n"));
  const termStarts = [0];
  const weightStarts = [0];
  documents.forEach((terms, k) => {
    termStarts.push((termStarts[k] ?? 0) + Buffer.byteLength(texts[k] ?? "") + 1);
    weightStarts.push((weightStarts[k] ?? 0) + terms.length);
  });
  return {
    terms: Buffer.from(texts.join("\n")),
    weights: Uint8Array.from(documents.flatMap((terms, k) => terms.map((_, place) => weightOf(k, place)))),
    termStarts: Uint32Array.from(termStarts),
    weightStarts: Uint32Array.from(weightStarts),
  };
}
