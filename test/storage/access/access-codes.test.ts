import { describe, test } from "vitest";
import { AccessCodes } from "#storage/access/access-codes.ts";

/** A set of lists as bits. */
function held(...listIds: number[]): Uint32Array {
  const bits = new Uint32Array(4);
  for (const listId of listIds) bits[listId >>> 5] = (bits[listId >>> 5] ?? 0) | (1 << (listId & 31));
  return bits;
}

/** The accesses that are open, asked for one by one and all at once. */
function opened(codes: AccessCodes, ...listIds: number[]): number[] {
  const bits = codes.openTo(held(...listIds));
  const all = Array.from({ length: codes.lastAcl + 40 }, (_, aclId) => aclId);
  const one = all.filter((aclId) => codes.isOpen(held(...listIds), aclId));
  const together = all.filter((aclId) => (((bits[aclId >>> 5] ?? 0) >>> (aclId & 31)) & 1) === 1);
  if (one.join() !== together.join()) throw new Error(`One by one ${one.join()}, together ${together.join()}.`);
  return one;
}

describe("the table of accesses", () => {
  test("leaves to no one what has no number or no list", ({ expect }) => {
    const codes = new AccessCodes();
    expect(codes.lastAcl).toBe(0);
    codes.addText("1:5;4:7;6:;9:5,7;70:7,5,9");
    expect(codes.lastAcl).toBe(70);
    expect([opened(codes, 5), opened(codes, 7), opened(codes, 5, 7), opened(codes, 5, 7, 9), opened(codes)]).toEqual([
      [1],
      [4],
      [1, 4, 9],
      [1, 4, 9, 70],
      [],
    ]);
  });

  test("passes over what it knows, and goes on behind it", ({ expect }) => {
    const codes = new AccessCodes();
    codes.addText("1:5;2:5,7;3:7");
    const { bytes } = codes;
    for (let i = 0; i < 40; i++) codes.addText("1:9;2:9;3:9,11");
    codes.addText("2:9;3:9;4:9");
    expect([codes.lastAcl, codes.bytes]).toEqual([4, bytes]);
    expect([opened(codes, 5, 7), opened(codes, 9)]).toEqual([[1, 2, 3], [4]]);
  });

  test("takes in chunks behind texts, with places of their own", ({ expect }) => {
    const codes = new AccessCodes();
    codes.addText("1:5,7;2:9");
    // Nobody's, one list, and two accesses of two lists each, at places 1 and 4 of the chunk.
    codes.addChunk(3, { codes: Int32Array.of(0, 5, -1, -4), many: Int32Array.of(0, 2, 5, 9, 2, 7, 9) });
    expect(codes.lastAcl).toBe(6);
    codes.addChunk(7, { codes: Int32Array.of(0, 9), many: Int32Array.of(0) });
    expect(codes.lastAcl).toBe(8);
    expect([opened(codes, 5, 9), opened(codes, 7, 9), opened(codes, 5, 7)]).toEqual([
      [2, 4, 5, 8],
      [2, 6, 8],
      [1, 4],
    ]);
  });

  test("holds as many accesses as come, whatever their lists", ({ expect }) => {
    const codes = new AccessCodes();
    const lists = Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? "1" : i % 3 === 1 ? "1,2" : "3,4,5"));
    codes.addText(lists.map((list, i) => `${i + 1}:${list}`).join(";"));
    expect(opened(codes, 1)).toHaveLength(100);
    expect(opened(codes, 1, 2)).toHaveLength(200);
    expect(opened(codes, 3, 4)).toHaveLength(0);
    expect(opened(codes, 3, 4, 5)).toHaveLength(100);
  });
});
