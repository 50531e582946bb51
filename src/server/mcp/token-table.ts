import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** Which number a token has; a smaller one is merged first. */
export interface TokenTable {
  /** The number of the token with the bytes from `start` to `end`, or `NO_TOKEN`. */
  rankOf(bytes: Uint8Array, start: number, end: number): number;
}

export const NO_TOKEN = 0xff_ff_ff_ff;

/**
 * Reads the vocabulary of o200k from its package: 200,000 tokens in 4 MB outside the heap. As strings in a Map they took
 * 25 MB of it, with what the package keeps beside them.
 */
export function readTokenTable(): TokenTable {
  const file = createRequire(import.meta.url).resolve("gpt-tokenizer/data/o200k_base.tiktoken");
  return parseTokenTable(readFileSync(file));
}

/**
 * Makes a table from lines of a token in Base64, a space and its number, which counts from 0.
 *
 * @throws Error when a line has another number
 */
export function parseTokenTable(file: Uint8Array): TokenTable {
  const { arena, starts } = decodeLines(file);
  const count = starts.length - 1;
  // At most half full, so that a search ends soon.
  const mask = 2 ** Math.ceil(Math.log2(Math.max(count, 1) * 2)) - 1;
  const slots = new Uint32Array(mask + 1).fill(NO_TOKEN);
  for (let rank = 0; rank < count; rank++) {
    let at = hashOf(arena, starts[rank] ?? 0, starts[rank + 1] ?? 0) & mask;
    while (slots[at] !== NO_TOKEN) at = (at + 1) & mask;
    slots[at] = rank;
  }

  return {
    rankOf(bytes, start, end) {
      const length = end - start;
      for (let at = hashOf(bytes, start, end) & mask; ; at = (at + 1) & mask) {
        const rank = slots[at] ?? NO_TOKEN;
        if (rank === NO_TOKEN) return NO_TOKEN;
        const from = starts[rank] ?? 0;
        if ((starts[rank + 1] ?? 0) - from !== length) continue;
        let n = 0;
        while (n < length && arena[from + n] === bytes[start + n]) n++;
        if (n === length) return rank;
      }
    },
  };
}

const [NEWLINE, SPACE, EQUALS, ZERO] = [10, 32, 61, 48];
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** All tokens one after the other, and where each starts; at the end, where the last one ends. */
function decodeLines(file: Uint8Array): { arena: Uint8Array; starts: Uint32Array } {
  const values = new Uint8Array(256);
  for (let n = 0; n < BASE64.length; n++) values[BASE64.charCodeAt(n)] = n;
  const arena = new Uint8Array(Math.ceil(file.length * 0.75));
  const starts: number[] = [0];
  let length = 0;
  for (let at = 0; at < file.length; at++) {
    let [bits, pending] = [0, 0];
    for (; file[at] !== SPACE && at < file.length; at++) {
      if (file[at] === EQUALS) continue;
      pending = (pending << 6) | (values[file[at] ?? 0] ?? 0);
      bits += 6;
      if (bits < 8) continue;
      bits -= 8;
      arena[length++] = pending >> bits;
      pending &= (1 << bits) - 1;
    }
    let rank = 0;
    for (at++; file[at] !== NEWLINE && at < file.length; at++) rank = rank * 10 + (file[at] ?? 0) - ZERO;
    if (rank !== starts.length - 1) throw new Error(`Token ${starts.length - 1} has the number ${rank}.`);
    starts.push(length);
  }
  return { arena: arena.slice(0, length), starts: Uint32Array.from(starts) };
}

/** FNV-1a, with its high bits mixed into those that choose the slot. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x81_1c_9d_c5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01_00_01_93);
  return hash ^ (hash >>> 15);
}
