/**
 * Options of an `LRUCache` of at most so many entries, which takes memory as it fills. With `max` it allocates all of them when
 * it is made: 20,000 entries take 5 to 20 ms, and a server that starts makes three such caches.
 */
export function atMost(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
