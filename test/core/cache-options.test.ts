import { LRUCache } from "lru-cache";
import { expect, test } from "vitest";
import { atMost } from "#core/cache-options.ts";

test("a cache keeps the entries that were used last, as many as it may", () => {
  const cache = new LRUCache<string, number>(atMost(3));
  for (const [at, key] of ["a", "b", "c"].entries()) cache.set(key, at);
  cache.get("a");
  cache.set("d", 3);
  expect([...cache.keys()]).toEqual(["d", "a", "c"]);
});
