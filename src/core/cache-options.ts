/**
 * Options of an `LRUCache` of at most this many entries, which allocates memory as it fills. With the option `max`, the
 * cache allocates all entries when it is created: 20,000 entries take 5 to 20 ms, and a server creates three such
 * caches at start.
 */
export function atMost(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
