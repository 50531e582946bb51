import iconv from "iconv-lite";
import { ISO_2022_JP } from "./names.ts";

/**
 * Returns the encoding that is named by the escape sequences of seven-bit text; undefined when the text has no such
 * sequences.
 */
export function findStateful(sample: Buffer): string | undefined {
  if (sample.includes("\x1b$B") || sample.includes("\x1b$@")) return ISO_2022_JP;
  if (sample.includes("\x1b$)C")) return "iso-2022-kr";
  return sample.includes("\x1b$)A") ? "iso-2022-cn" : undefined;
}

/**
 * Decodes bytes in an encoding that switches tables by escape sequences. The platform's decoder supports the Japanese
 * encoding. The Korean and Chinese encodings switch by SO and SI between ASCII and two-byte characters, which are those
 * of EUC without the eighth bit. Source: RFC 1557, RFC 1922.
 *
 * @returns undefined for every other encoding
 */
export function decodeStateful(buffer: Buffer, encoding: string): string | undefined {
  if (encoding === ISO_2022_JP) return new TextDecoder(encoding).decode(buffer);
  const table = SHIFTED[encoding];
  if (table === undefined) return undefined;
  const out = Buffer.allocUnsafe(buffer.length);
  let [length, isShifted] = [0, false];
  for (let at = 0; at < buffer.length; at++) {
    const byte = buffer[at] ?? 0;
    if (byte === 0x1b && buffer[at + 1] === 0x24) at += 3;
    else if (byte === SHIFT_OUT || byte === SHIFT_IN) isShifted = byte === SHIFT_OUT;
    else {
      // Every line begins in ASCII.
      if (byte === 0x0a) isShifted = false;
      out[length++] = isShifted && byte > 0x20 ? byte | 0x80 : byte;
    }
  }
  return iconv.decode(out.subarray(0, length), table);
}

const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
const SHIFTED: Readonly<Record<string, string>> = { "iso-2022-kr": "euc-kr", "iso-2022-cn": "gb2312" };
