/** The documents that have a term: ascending local ids with their weighted frequencies, 1–255. */
export interface Postings {
  ids: Uint16Array;
  weights: Uint8Array;
}

export const NO_POSTINGS: Postings = { ids: new Uint16Array(0), weights: new Uint8Array(0) };

const BYTES_PER_POSTING = 3;

/** Encodes postings as one blob: all ids (little-endian, as on every platform on which Node runs), then all weights. */
export function encodePostings(postings: Postings): Uint8Array {
  const { ids, weights } = postings;
  const blob = new Uint8Array(ids.length * BYTES_PER_POSTING);
  blob.set(new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength));
  blob.set(weights, ids.byteLength);
  return blob;
}

/** Returns views into the blob when its alignment allows it, else copies. */
export function decodePostings(blob: Uint8Array): Postings {
  const bytes = blob.byteOffset % 2 === 0 ? blob : blob.slice();
  const count = bytes.length / BYTES_PER_POSTING;
  return {
    ids: new Uint16Array(bytes.buffer, bytes.byteOffset, count),
    weights: new Uint8Array(bytes.buffer, bytes.byteOffset + count * 2, count),
  };
}

/** Merges several lists. Weights of the same document are added, up to 255. A document may be in several lists. */
export function unitePostings(lists: readonly Postings[]): Postings {
  const only = lists[0];
  if (only === undefined) return NO_POSTINGS;
  if (lists.length === 1) return only;
  let total = 0;
  for (const list of lists) total += list.ids.length;
  return total > DENSE ? uniteDense(lists) : uniteSparse(lists, total);
}

/** With this many postings or more, a pass over all possible ids takes less time than sorting. */
const DENSE = 2_048;

function uniteDense(lists: readonly Postings[]): Postings {
  const sums = new Uint8Array(65_536);
  for (const { ids, weights } of lists) {
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i] ?? 0;
      sums[id] = Math.min(255, (sums[id] ?? 0) + (weights[i] ?? 0));
    }
  }
  const found = new Uint16Array(65_536);
  let count = 0;
  for (let id = 0; id < sums.length; id++) if (sums[id] !== 0) found[count++] = id;
  const ids = found.slice(0, count);
  return { ids, weights: Uint8Array.from(ids, (id) => sums[id] ?? 0) };
}

function uniteSparse(lists: readonly Postings[], total: number): Postings {
  const packed = new Uint32Array(total);
  let at = 0;
  for (const { ids, weights } of lists) {
    for (let i = 0; i < ids.length; i++) packed[at++] = (ids[i] ?? 0) * 256 + (weights[i] ?? 0);
  }
  packed.sort();
  const ids = new Uint16Array(total);
  const weights = new Uint8Array(total);
  let count = 0;
  for (const entry of packed) {
    const id = entry >>> 8;
    const weight = entry & 255;
    if (count > 0 && ids[count - 1] === id) weights[count - 1] = Math.min(255, (weights[count - 1] ?? 0) + weight);
    else {
      ids[count] = id;
      weights[count++] = weight;
    }
  }
  return { ids: ids.subarray(0, count), weights: weights.subarray(0, count) };
}
