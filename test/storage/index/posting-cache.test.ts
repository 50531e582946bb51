import * as fc from "fast-check";
import { expect, test } from "vitest";
import { PostingCache } from "#storage/index/posting-cache.ts";
import { lengthOf, toPostings } from "#storage/index/posting-list.ts";
import { openListExchange } from "#storage/index/read/list-exchange.ts";
import { runs } from "../../runs.ts";

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

test("what one cache has read another has too, with the same documents and weights", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(65_535), { minLength: 3, maxLength: 400 }), (documents) => {
      const ids = Uint16Array.from(documents).sort();
      const weights = Uint8Array.from(ids, (id) => 1 + (id % 255));
      const [one, other] = [new PostingCache({ dense: 3, isShared: true }), new PostingCache()];
      one.get(7, () => ({ ids, weights }));
      other.addShared(one.takeMade());
      expect(one.takeMade()).toEqual([]);
      const taken = other.get(7, () => undefined);
      expect(taken && toPostings(taken)).toEqual({ ids, weights });
    }),
    { numRuns: runs(50) },
  );
});

test("a list that two have read takes memory once as soon as they have heard of each other", () => {
  const caches = [
    new PostingCache({ dense: 3, isShared: true }),
    new PostingCache({ dense: 3, isShared: true }),
  ] as const;
  for (const cache of caches) cache.get(1, () => list(10));
  caches[1].addShared(caches[0].takeMade());
  const buffers = caches.map((cache) => cache.get(1, () => undefined)).map((each) => each?.weights.buffer);
  expect(buffers[0]).toBeInstanceOf(SharedArrayBuffer);
  expect(buffers[1]).toBe(buffers[0]);
});

test("an exchange passes lists on to those of its name", async () => {
  const caches = Array.from({ length: 3 }, () => new PostingCache({ dense: 3, isShared: true }));
  const exchanges = caches.map((cache, i) => openListExchange(i === 2 ? "another pool" : "a pool", cache));
  try {
    caches[0]?.get(5, () => list(10));
    exchanges[0]?.send();
    await expect.poll(() => lengthOf(caches[1]?.get(5, () => list(0)) ?? list(0))).toBe(10);
    expect(caches[2]?.get(5, () => undefined)).toBeUndefined();
  } finally {
    for (const exchange of exchanges) exchange.close();
  }
});
