import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ReadWords } from "#storage/index/delta-words.ts";
import { eachHash, hashOf } from "#storage/index/term-hash.ts";
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
      const words = new UnreadWords(readerOf(documents));
      words.add(hashesOf(documents), 7);
      const taken: number[] = [];
      words.take(read, (id) => taken.push(id));
      expect(taken).toEqual([...documents.keys()].slice(0, read).map((k) => 7 + k));
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

test("a term that has the hash of another isn't taken for it, and a row that has gone is passed over", () => {
  const documents = [["apple"], ["pear"], ["apple", "pear"], ["acorn", "apple"]];
  const words = new UnreadWords((seqs, visit) =>
    readerOf(documents)(
      seqs.filter((seq) => seq !== 102),
      visit,
    ),
  );
  // All terms alike.
  words.add(
    {
      seqs: Uint32Array.of(100, 101, 102, 103),
      hashes: new Uint16Array(6).fill(hashOf("apple")),
      hashStarts: Uint32Array.of(0, 1, 2, 4, 6),
      unhashed: [],
    },
    0,
  );
  const { ids, weights } = words.find("apple");
  expect([[...ids], [...weights]]).toEqual([
    [0, 3],
    [weightOf(0, 0), weightOf(3, 1)],
  ]);
  words.take(4, () => {});
  expect(words.isEmpty).toBe(true);
});

test("words of many documents are read some thousand at a time", () => {
  const documents = Array.from({ length: 5_000 }, () => ["apple"]);
  const asked: number[] = [];
  const words = new UnreadWords((seqs, visit) => {
    asked.push(seqs.length);
    readerOf(documents)(seqs, visit);
  });
  words.add(hashesOf(documents), 0);
  expect(words.find("apple").ids).toHaveLength(5_000);
  expect(asked).toEqual([2_048, 2_048, 904]);
});

function weightOf(document: number, place: number): number {
  return document * 20 + place + 1;
}

/** Rows from number 100 on. */
function readerOf(documents: readonly string[][]): ReadWords {
  return (seqs, visit) => {
    for (const seq of seqs) {
      const terms = documents[seq - 100] ?? [];
      const weights = Uint8Array.from(terms, (_, place) => weightOf(seq - 100, place));
      visit(seq, { terms: Buffer.from(terms.join("\n")), weights });
    }
  };
}

function hashesOf(documents: readonly string[][]) {
  const hashes: number[] = [];
  const starts = [0];
  for (const terms of documents) {
    eachHash(terms.join("\n"), terms.length, (hash) => hashes.push(hash));
    starts.push(hashes.length);
  }
  const seqs = Uint32Array.from(documents, (_, k) => 100 + k);
  return { seqs, hashes: Uint16Array.from(hashes), hashStarts: Uint32Array.from(starts), unhashed: [] };
}
