/** Properties of a message by id: their bytes, and whether they are text with two bytes per letter. */
export type MapiProperties = ReadonlyMap<number, { data: Buffer; isUnicode: boolean }>;

/**
 * Reads the properties of a message or a file in TNEF for as long as their lengths are valid. Named and multi-valued properties are skipped. Source:
 * MS-OXTNEF, 2.1.3.4.
 */
export function readMapiProperties(bytes: Buffer): MapiProperties {
  const found = new Map<number, { data: Buffer; isUnicode: boolean }>();
  const cursor = new Cursor(bytes);
  const count = Math.min(cursor.number(), MAX_PROPERTIES);
  for (let read = 0; read < count && !cursor.isOver; read++) {
    const kind = cursor.number();
    const [type, id] = [kind & 0xffff, kind >>> 16];
    if (id >= FIRST_NAMED) passName(cursor);
    const data = readValue(cursor, type);
    if (data === undefined) break;
    if (!cursor.isOver && id < FIRST_NAMED) found.set(id, { data, isUnicode: type === UNICODE });
  }
  return found;
}

const MAX_PROPERTIES = 10_000;
const MAX_VALUES = 10_000;
const FIRST_NAMED = 0x8000;
const UNICODE = 0x1f;
const SEVERAL = 0x1000;
/** Types whose values begin with their length: text, Unicode text, objects, bytes. */
const LONG_TYPES: ReadonlySet<number> = new Set([0x1e, UNICODE, 0x0d, 0x102]);
/** Number of bytes of a value by type. */
const SIZES = new Map([
  [0x02, 4],
  [0x03, 4],
  [0x04, 4],
  [0x05, 8],
  [0x06, 8],
  [0x07, 8],
  [0x0a, 4],
  [0x0b, 4],
  [0x14, 8],
  [0x40, 8],
  [0x48, 16],
]);

/** Reads bytes in order; after their end, all reads return nothing. */
class Cursor {
  isOver = false;
  private at = 0;
  private readonly source: Buffer;

  constructor(source: Buffer) {
    this.source = source;
  }

  number(): number {
    const bytes = this.take(4);
    return bytes.length === 4 ? bytes.readUInt32LE(0) : 0;
  }

  /** Returns this many bytes; the next value begins at a multiple of four. */
  take(length: number): Buffer {
    if (length > this.source.length - this.at) this.isOver = true;
    if (this.isOver) return Buffer.alloc(0);
    const bytes = this.source.subarray(this.at, this.at + length);
    this.at = Math.min(this.source.length, this.at + Math.ceil(length / 4) * 4);
    return bytes;
  }
}

function passName(cursor: Cursor): void {
  cursor.take(16);
  if (cursor.number() === 0) cursor.number();
  else cursor.take(cursor.number());
}

/** Returns the first value; undefined for an unknown type, after which nothing can be found. */
function readValue(cursor: Cursor, kind: number): Buffer | undefined {
  const type = kind & ~SEVERAL;
  const isLong = LONG_TYPES.has(type);
  const size = SIZES.get(type);
  if (!isLong && size === undefined) return type === 0x01 ? Buffer.alloc(0) : undefined;
  const count = isLong || kind !== type ? Math.min(cursor.number(), MAX_VALUES) : 1;
  let first: Buffer | undefined;
  for (let read = 0; read < count && !cursor.isOver; read++) {
    const value = cursor.take(isLong ? cursor.number() : (size ?? 0));
    first ??= value;
  }
  return first ?? Buffer.alloc(0);
}
