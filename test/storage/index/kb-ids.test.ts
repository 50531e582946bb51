import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ID_ALPHABET } from "#api/common.ts";
import { type Columns, ColumnsBuilder } from "#storage/index/columns.ts";
import { findKbId, findKbIds, listKbIds, makeKbIdHeads, sortKbIds } from "#storage/index/kb-ids.ts";
import { runs } from "../../runs.ts";
import { makeDocument } from "./world.ts";

/** Ids as kb makes them, and others; few letters, so that many begin alike. */
const rest = fc.string({ unit: fc.constantFrom(..."2ayz", "A", "Z", "_", "-", "é", "東"), maxLength: 8 });
const made = fc.string({ unit: fc.constantFrom(...ID_ALPHABET), minLength: 16, maxLength: 16 });
const ids = fc.uniqueArray(
  fc.oneof(
    made.map((text) => `kbi_${text}`),
    rest.map((text) => `k${text}`),
  ),
  { minLength: 1, maxLength: 120 },
);

/** Columns of these ids in the order of a base segment, with the ids in that order. */
function columnsOf(kbIds: readonly string[]): { columns: Columns; keys: Buffer[] } {
  const keys = kbIds.map((kbId) => Buffer.from(kbId)).sort(Buffer.compare);
  const builder = new ColumnsBuilder(16);
  for (const key of keys) {
    const { text, ...document } = makeDocument({ kbId: key.toString("utf8") });
    builder.add({ ...document, length: text.length }, document.aclId);
  }
  return { columns: builder.columns, keys };
}

test("each kbId of a segment is found, alone and among many, and no other is", () => {
  fc.assert(
    fc.property(ids, fc.array(rest, { maxLength: 20 }), (there, others) => {
      const { columns, keys } = columnsOf(there);
      const heads = makeKbIdHeads(columns);
      const strangers = others
        .map((text) => `k${text}?`)
        .filter((kbId) => !there.includes(kbId))
        .map((kbId) => Buffer.from(kbId));
      expect(keys.map((key) => findKbId(columns, key, heads))).toEqual(keys.map((_, id) => id));
      expect(strangers.map((key) => findKbId(columns, key, heads))).toEqual(strangers.map(() => -1));
      const found = new Map<number, number>();
      const asked = [...strangers, ...keys.toReversed()];
      findKbIds(columns, heads, sortKbIds(listKbIds(asked), heads.skip), (place, id) => found.set(place, id));
      const wanted = keys.map((_, id) => [asked.length - 1 - id, id] as const);
      expect(found).toEqual(new Map(wanted));
    }),
    { numRuns: runs(300) },
  );
});
