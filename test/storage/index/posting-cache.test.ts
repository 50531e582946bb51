import { expect, test } from "vitest";
import { PostingCache } from "#storage/index/posting-cache.ts";
import { lengthOf } from "#storage/index/posting-list.ts";

/** Costs 250 bytes and three for each of its numbers. */
const list = (length: number) => ({
  isDense: false as const,
  ids: new Uint16Array(length),
  weights: new Uint8Array(length),
});

/** A cache of that many bytes, and the keys that had to be read. */
function cacheOf(budget: number) {
  const cache = new PostingCache({ budget });
  const read: number[] = [];
  const get = (key: number, length: number | undefined) =>
    cache.get(key, () => {
      read.push(key);
      return length === undefined ? undefined : list(length);
    });
  return { get, read };
}

test("a posting list is read once, and that there is none is remembered too", () => {
  const { get, read } = cacheOf(10_000);
  expect(get(1, 3)).toBe(get(1, 3));
  expect([get(2, undefined), get(2, undefined)]).toEqual([undefined, undefined]);
  expect(read).toEqual([1, 2]);
});

test("the least recently used lists go when their bytes pass the budget, also a list that alone passes it", () => {
  const { get, read } = cacheOf(1_200);
  for (const key of [1, 2, 1, 3, 1, 2]) get(key, 50);
  // 400 bytes each: three fit.
  expect(read).toEqual([1, 2, 3]);
  for (const key of [4, 2, 1]) get(key, 50);
  expect(read).toEqual([1, 2, 3, 4]);
  for (const key of [5, 5]) expect(lengthOf(get(key, 1_000) ?? list(0))).toBe(1_000);
  expect(read).toEqual([1, 2, 3, 4, 5, 5]);
});
