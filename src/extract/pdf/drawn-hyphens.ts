import { constants, deflateSync, inflateSync } from "node:zlib";

/**
 * Replaces soft hyphens in the tables of fonts with hyphens. A PDF displays a soft hyphen as a hyphen, and page-layout programs use it for hyphens at
 * the end of a line. pdf.js gives no text for a soft hyphen, which splits the words. The tables, which map codes to characters, are changed in place
 * and keep their length. Source: ISO 32000-1, 9.10.3.
 */
export function writeDrawnHyphens(bytes: Buffer): void {
  let streams = 0;
  let tables = 0;
  for (let at = bytes.indexOf(STREAM); at >= 0 && streams < MAX_STREAMS && tables < MAX_TABLES; streams++) {
    const table = tableAt(bytes, at);
    if (table !== undefined) writeTable(table);
    if (table !== undefined) tables++;
    at = bytes.indexOf(STREAM, at + STREAM.length);
  }
}

function writeTable(packed: Buffer): void {
  const table = textOf(packed);
  const changed = table === undefined ? undefined : withHyphens(table.text);
  if (table === undefined || changed === undefined) return;
  const written = table.isPacked ? deflateSync(changed, { level: 9, memLevel: 9 }) : Buffer.from(changed, "latin1");
  // Bytes after the end of compressed data aren't read.
  if (written.length <= packed.length) packed.fill(0x20).set(written);
}

const STREAM = Buffer.from("stream");
const MAX_STREAMS = 60_000;
const MAX_TABLES = 1_000;
const MAX_PACKED_BYTES = 262_144;
const MAX_TABLE_BYTES = 262_144;
const HEAD_BYTES = 400;
/** Number of compressed bytes that are enough to recognize the stream's type. */
const LOOK_BYTES = 160;

/** Returns the bytes of a stream that may be such a table. */
function tableAt(bytes: Buffer, at: number): Buffer | undefined {
  // Most of these matches are the ends of streams.
  if (bytes[at - 1] === 0x64) return undefined;
  const before = bytes.toString("latin1", Math.max(0, at - HEAD_BYTES), at);
  const head = /\d obj\s*<<((?:(?! obj\b)[\s\S])*)>>\s*$/u.exec(before)?.[1];
  if (head === undefined || /\/(?:Subtype|DecodeParms|Length1|XRef|ObjStm|Metadata|EmbeddedFile)\b/u.test(head))
    return undefined;
  const filters = /\/Filter\s*(?:\/(\w+)|\[\s*\/(\w+)\s*\])/u.exec(head);
  const filter = filters?.[1] ?? filters?.[2];
  if (filter === undefined ? head.includes("/Filter") : filter !== "FlateDecode") return undefined;
  const after = at + STREAM.length;
  const start = after + (bytes[after] === 0x0d ? 1 : 0) + (bytes[after + 1] === 0x0a || bytes[after] === 0x0a ? 1 : 0);
  const packed = bytes.subarray(start, start + MAX_PACKED_BYTES);
  if (!isTable(packed, filter !== undefined)) return undefined;
  const length = /\/Length\s+(\d{1,7})(?!\d|\s+\d+\s+R)/u.exec(head)?.[1];
  const end = length === undefined ? packed.indexOf("endstream") : Number(length);
  return end < 0 ? packed : packed.subarray(0, end);
}

function isTable(packed: Buffer, isPacked: boolean): boolean {
  const start = packed.subarray(0, LOOK_BYTES);
  const text = isPacked ? unpacked(start) : start;
  return text !== undefined && /begincmap|CIDInit|CMapName|codespacerange/u.test(text.toString("latin1"));
}

function textOf(packed: Buffer): { text: string; isPacked: boolean } | undefined {
  const isPacked = !isTable(packed, false);
  const text = isPacked ? unpacked(packed) : packed;
  return text === undefined ? undefined : { text: text.toString("latin1"), isPacked };
}

/** Decompresses bytes, even if they are truncated. */
function unpacked(bytes: Buffer): Buffer | undefined {
  // Checked here, because zlib takes a hundred times longer to detect this.
  if (bytes.length < 3 || ((bytes[0] ?? 0) & 15) !== 8 || bytes.readUInt16BE(0) % 31 !== 0) return undefined;
  try {
    return inflateSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_TABLE_BYTES });
  } catch {
    return undefined;
  }
}

/**
 * Returns the table with a hyphen instead of the soft hyphen. Content that no reader needs is removed, so that the table doesn't become longer.
 * Undefined when it has no soft hyphen.
 */
function withHyphens(table: string): string | undefined {
  const pieces = table
    .slice(Math.max(0, table.search(/\d+\s+begincodespacerange/u)))
    .split(/\b((?:begin|end)bf(?:char|range))\b/u);
  const codes: string[] = [];
  const changed = pieces.map((piece, at) => {
    const mode = at % 2 === 0 ? pieces[at - 1] : undefined;
    if (mode === "beginbfchar") return piece.replaceAll(SOFT_CHARACTER, "$1<002D>");
    return mode === "beginbfrange"
      ? piece.replaceAll(RANGE, (found, ...range: string[]) => inRange(found, range, codes))
      : piece;
  });
  const text = changed.join("");
  if (codes.length === 0 && text === pieces.join("")) return undefined;
  const last = text.lastIndexOf("endbf");
  const end = last + (/^endbf(?:char|range)/u.exec(text.slice(last, last + 10))?.[0].length ?? 0);
  const more = codes.length === 0 ? "" : `\n${codes.length} beginbfchar${codes.join("")}endbfchar`;
  return `${text.slice(0, end).replaceAll(/\s+/gu, " ")}${more}\nendcmap`;
}

const SOFT_CHARACTER = /(<[\dA-F]{1,8}>\s{0,9})<00AD>/giu;
const RANGE = /<([\dA-F]{1,8})>\s{0,9}<([\dA-F]{1,8})>\s{0,9}(?:<([\dA-F]{1,8})>|\[[^\]]{0,4000}\])/giu;

/**
 * Handles a range of codes. A list has its characters one by one; in a range that starts with a character, the code of the soft hyphen gets a
 * separate entry.
 */
function inRange(
  found: string,
  [first = "", last = "", value]: readonly (string | undefined)[],
  codes: string[],
): string {
  if (value === undefined) return found.replaceAll(/<00AD>/giu, "<002D>");
  const offset = SOFT_HYPHEN - Number.parseInt(value, 16);
  const code = Number.parseInt(first, 16) + offset;
  if (offset >= 0 && code <= Number.parseInt(last, 16))
    codes.push(`<${code.toString(16).padStart(first.length, "0")}><002D>`);
  return found;
}

const SOFT_HYPHEN = 0xad;
