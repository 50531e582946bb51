import type { RandomBytes } from "./clock.ts";

/** Enough for 256 ids. */
const POOL_BYTES = 4_096;

/**
 * Returns a source of the same random bytes that draws some kilobytes at a time. For an item's id, a draw costs more
 * than everything else.
 */
export function pooledBytes(randomBytes: RandomBytes): RandomBytes {
  let pool = new Uint8Array(0);
  let at = 0;
  return (count) => {
    if (at + count > pool.length) {
      pool = Uint8Array.from(randomBytes(Math.max(count, POOL_BYTES)));
      at = 0;
    }
    const taken = pool.slice(at, at + count);
    pool.fill(0, at, at + count);
    at += count;
    return taken;
  };
}
