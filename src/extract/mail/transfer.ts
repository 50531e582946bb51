/** Decodes the transfer encoding of a body; an unknown encoding leaves the bytes unchanged. Source: RFC 2045. */
export function decodeTransfer(bytes: Buffer, encoding: string): Buffer {
  const name = encoding.split(/[;(]/u, 1)[0] ?? "";
  switch (name.toLowerCase().replaceAll(/[^a-z0-9]/gu, "")) {
    case "base64":
      return Buffer.from(bytes.toString("latin1"), "base64");
    case "quotedprintable":
      return fromQuotedPrintable(bytes);
    case "xuuencode":
    case "uuencode":
    case "xuue":
      return fromUuencode(bytes.toString("latin1"));
    default:
      return bytes;
  }
}

/** Decodes `=3D` to `=` and removes soft line breaks; anything else is kept. */
export function fromQuotedPrintable(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte !== EQUALS) {
      out[length++] = byte;
      continue;
    }
    const breakLength = softBreakAt(bytes, i + 1);
    if (breakLength > 0) {
      i += breakLength;
      continue;
    }
    const high = HEX[bytes[i + 1] ?? 0] ?? -1;
    const low = HEX[bytes[i + 2] ?? 0] ?? -1;
    if (high < 0 || low < 0) out[length++] = byte;
    else {
      out[length++] = high * 16 + low;
      i += 2;
    }
  }
  return out.subarray(0, length);
}

const EQUALS = 0x3d;
/** Value of a hexadecimal digit by its character code; -1 for any other character. */
const HEX = Int8Array.from({ length: 256 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? -1 : value;
});

/** Returns the length of the white space up to and including the line's end; 0 if the line has other characters. */
function softBreakAt(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === 0x20 || bytes[at] === 0x09) at++;
  if (bytes[at] === 0x0d) at++;
  if (bytes[at] === 0x0a) return at + 1 - start;
  return at >= bytes.length ? at - start : 0;
}

/** Decodes the content between `begin 644 name` and `end`. */
export function fromUuencode(text: string): Buffer {
  const lines = text.split(/\r?\n/u);
  const first = lines.findIndex((line) => /^begin \d{3,4} /u.test(line));
  const out: Buffer[] = [];
  for (const line of lines.slice(first + 1)) {
    if (line === "end") break;
    const length = (line.charCodeAt(0) - 32) & 63;
    if (line === "" || length === 0) continue;
    const bytes = Buffer.alloc(Math.ceil(length / 3) * 3);
    for (let i = 1, at = 0; at < length; i += 4, at += 3) {
      const [a = 0, b = 0, c = 0, d = 0] = [0, 1, 2, 3].map((n) => ((line.charCodeAt(i + n) || 32) - 32) & 63);
      bytes[at] = (a << 2) | (b >> 4);
      bytes[at + 1] = ((b & 15) << 4) | (c >> 2);
      bytes[at + 2] = ((c & 3) << 6) | d;
    }
    out.push(bytes.subarray(0, length));
  }
  return Buffer.concat(out);
}
