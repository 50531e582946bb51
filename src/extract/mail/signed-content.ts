import { asBuffer } from "#core/as-buffer.ts";

/** PKCS #7 of signed data. Source: RFC 5652, section 5.1. */
const SIGNED_DATA = Buffer.from("06092a864886f70d010702", "hex");
const [OCTETS, OCTETS_IN_PARTS, SEQUENCE, FIRST] = [0x04, 0x24, 0x30, 0xa0];
const MAX_DEPTH = 16;

/**
 * Extracts the signed content (S/MIME that isn't in clear text, `.p7m`), which is a part of an email or any file. The signature isn't verified. The
 * few BER headers are parsed here, because a library for them would be larger than all email readers of kb.
 *
 * @returns the content; undefined when the bytes aren't signed data, or contain nothing
 */
export function signedContent(bytes: Uint8Array): Buffer | undefined {
  const buffer = asBuffer(bytes);
  const whole = readNode(buffer, 0, buffer.length, 0);
  if (whole?.tag !== SEQUENCE) return undefined;
  const [type, wrapped] = childrenOf(buffer, whole);
  if (type === undefined || wrapped?.tag !== FIRST) return undefined;
  if (!buffer.subarray(type.at, type.end).equals(SIGNED_DATA)) return undefined;
  const [data] = childrenOf(buffer, wrapped);
  const info = data && childrenOf(buffer, data).find(({ tag }) => tag === SEQUENCE);
  const content = info && childrenOf(buffer, info)[1];
  const [octets] = content?.tag === FIRST ? childrenOf(buffer, content) : [];
  if (octets === undefined) return undefined;
  const parts = octets.tag === OCTETS_IN_PARTS ? childrenOf(buffer, octets) : [octets];
  if (parts.some(({ tag }) => tag !== OCTETS)) return undefined;
  return Buffer.concat(parts.map(({ from, to }) => buffer.subarray(from, to)));
}

/** A BER value: where it begins and ends including its header, and its content. */
interface Node {
  tag: number;
  at: number;
  from: number;
  to: number;
  end: number;
}

function childrenOf(buffer: Buffer, { from, to }: Node): Node[] {
  const found: Node[] = [];
  for (let at = from; at < to;) {
    const child = readNode(buffer, at, to, 0);
    if (child === undefined) return found;
    found.push(child);
    at = child.end;
  }
  return found;
}

function readNode(buffer: Buffer, at: number, limit: number, depth: number): Node | undefined {
  const [tag, first] = [buffer[at], buffer[at + 1]];
  if (tag === undefined || first === undefined || at + 2 > limit || depth > MAX_DEPTH || (tag & 0x1f) === 0x1f)
    return undefined;
  if (first === 0x80) return readOpenEnded(buffer, at, limit, depth);
  const digits = first > 0x80 ? first & 0x7f : 0;
  const from = at + 2 + digits;
  if (digits > 4 || from > limit) return undefined;
  const length = digits === 0 ? first : buffer.readUIntBE(at + 2, digits);
  const end = from + length;
  return end > limit ? undefined : { tag, at, from, to: end, end };
}

/** Reads a value whose end is marked by two zero bytes. */
function readOpenEnded(buffer: Buffer, at: number, limit: number, depth: number): Node | undefined {
  let next = at + 2;
  while (buffer[next] !== 0 || buffer[next + 1] !== 0) {
    const child = readNode(buffer, next, limit, depth + 1);
    if (child === undefined) return undefined;
    next = child.end;
  }
  return next + 2 > limit ? undefined : { tag: buffer[at] ?? 0, at, from: at + 2, to: next, end: next + 2 };
}
