import { Gunzip } from "fflate";

/** Deflate expands one step to at most 16 MiB. */
const STEP_BYTES = 16_384;
const RATIO_FREE_BYTES = 10 * 1_048_576;
const MAX_RATIO = 300;

/**
 * Decompresses at most `maxBytes` of a gzip file.
 *
 * @throws Error when the bytes aren't gzip, or decompress to more than 300 times their size (above 10 MiB)
 */
export function gunzipUpTo(bytes: Uint8Array, maxBytes: number): { bytes: Buffer; isCut: boolean } {
  const pieces: Uint8Array[] = [];
  const unpacked = { size: 0 };
  const gunzip = new Gunzip((piece) => {
    unpacked.size += piece.length;
    if (unpacked.size <= maxBytes) pieces.push(new Uint8Array(piece));
  });
  for (let from = 0; from < bytes.length && unpacked.size <= maxBytes; from += STEP_BYTES) {
    const end = from + STEP_BYTES;
    gunzip.push(bytes.subarray(from, end), end >= bytes.length);
    if (unpacked.size > RATIO_FREE_BYTES && unpacked.size > Math.min(end, bytes.length) * MAX_RATIO)
      throw new Error(`it unpacks to more than ${MAX_RATIO} times its size`);
  }
  return { bytes: Buffer.concat(pieces), isCut: unpacked.size > maxBytes };
}
