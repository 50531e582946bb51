/** A storage or stream of a compound file (OLE): MS-CFB. Streams are read on demand. */
export interface CompoundEntry {
  name: string;
  isStorage: boolean;
  size: number;
  children: readonly CompoundEntry[];
  read(): Buffer;
}

const END_OF_CHAIN = 0xfffffffe;
const NO_STREAM = 0xffffffff;
const MAX_ENTRIES = 50_000;
const MAX_DEPTH = 32;

/**
 * Opens a compound file and returns its root. Cyclic chains, entries that contain themselves and impossible sizes end in errors or in what was found
 * so far, never in a loop. Source: MS-CFB.
 *
 * @throws Error when the bytes aren't a compound file
 */
export function openCompoundFile(bytes: Buffer): CompoundEntry {
  if (bytes.length < 512 || bytes.readUInt32LE(0) !== 0xe011cfd0) throw new Error("it is not a compound file");
  const shift = bytes.readUInt16LE(30);
  if (shift !== 9 && shift !== 12) throw new Error("its sector size is not valid");
  const file = new Sectors(bytes, 1 << shift);
  const directory = file.chain(bytes.readUInt32LE(48));
  const count = Math.min(MAX_ENTRIES, Math.floor(directory.length / 128));
  if (count === 0) throw new Error("it has no directory");
  const rootStart = directory.readUInt32LE(116);
  const mini = new MiniStream(file.chain(rootStart), file.chain(bytes.readUInt32LE(60)));
  const seen = new Set<number>();

  function entryAt(index: number, depth: number): CompoundEntry {
    const at = index * 128;
    const nameLength = Math.min(64, Math.max(2, directory.readUInt16LE(at + 64)));
    const isStorage = directory[at + 66] !== 2;
    const size = directory.readUInt32LE(at + 120);
    const start = directory.readUInt32LE(at + 116);
    return {
      name: directory.toString("utf16le", at, at + nameLength - 2),
      isStorage,
      size,
      children: isStorage && depth < MAX_DEPTH ? childrenOf(directory.readUInt32LE(at + 76), depth + 1) : [],
      read: () => (size < 4_096 ? mini.read(start, size) : file.chain(start, size).subarray(0, size)),
    };
  }

  /** Returns the entries of a storage, which the file stores as a tree. */
  function childrenOf(root: number, depth: number): CompoundEntry[] {
    const found: CompoundEntry[] = [];
    const waiting = [root];
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      if (index === NO_STREAM || index >= count || seen.has(index)) continue;
      seen.add(index);
      found.push(entryAt(index, depth));
      waiting.push(directory.readUInt32LE(index * 128 + 68), directory.readUInt32LE(index * 128 + 72));
    }
    return found;
  }

  seen.add(0);
  return entryAt(0, 0);
}

/** The sectors of the file, and the table that links them into chains. */
class Sectors {
  private readonly bytes: Buffer;
  private readonly size: number;
  private readonly table: Buffer;

  constructor(bytes: Buffer, size: number) {
    this.bytes = bytes;
    this.size = size;
    const parts: Buffer[] = [];
    for (let at = 76; at < 512; at += 4) this.addSector(parts, bytes.readUInt32LE(at));
    // The list of the table's sectors continues in additional sectors.
    const seen = new Set<number>();
    for (let next = bytes.readUInt32LE(68); next < END_OF_CHAIN && !seen.has(next);) {
      seen.add(next);
      const sector = this.sector(next);
      if (sector.length < size) break;
      for (let at = 0; at < size - 4; at += 4) this.addSector(parts, sector.readUInt32LE(at));
      next = sector.readUInt32LE(size - 4);
    }
    this.table = Buffer.concat(parts);
  }

  /** Returns the bytes of a chain, at most about `maxBytes`. */
  chain(start: number, maxBytes = this.bytes.length): Buffer {
    const parts: Buffer[] = [];
    // A chain can't have more sectors than the file; a longer one contains a cycle.
    const limit = Math.ceil(Math.min(maxBytes, this.bytes.length) / this.size);
    for (let next = start; next < END_OF_CHAIN && parts.length < limit;) {
      const sector = this.sector(next);
      if (sector.length === 0) break;
      parts.push(sector);
      next = next * 4 + 4 <= this.table.length ? this.table.readUInt32LE(next * 4) : END_OF_CHAIN;
    }
    return Buffer.concat(parts);
  }

  private addSector(parts: Buffer[], number: number): void {
    // The table can't be larger than the file, even if its list claims so.
    if (number < END_OF_CHAIN && parts.length * this.size <= this.bytes.length) {
      const sector = this.sector(number);
      // A sector beyond the end keeps its place in the table, so that the numbers after it don't shift.
      parts.push(sector.length === this.size ? sector : Buffer.concat([sector], this.size).fill(0xff, sector.length));
    }
  }

  private sector(number: number): Buffer {
    const start = (number + 1) * this.size;
    return start >= this.bytes.length ? Buffer.alloc(0) : this.bytes.subarray(start, start + this.size);
  }
}

/** Small streams, which are stored in pieces of 64 bytes within another stream. */
class MiniStream {
  private readonly bytes: Buffer;
  private readonly table: Buffer;

  constructor(bytes: Buffer, table: Buffer) {
    this.bytes = bytes;
    this.table = table;
  }

  read(start: number, size: number): Buffer {
    const parts: Buffer[] = [];
    for (let next = start; next < END_OF_CHAIN && parts.length * 64 < size;) {
      parts.push(this.bytes.subarray(next * 64, next * 64 + 64));
      next = next * 4 + 4 <= this.table.length ? this.table.readUInt32LE(next * 4) : END_OF_CHAIN;
    }
    return Buffer.concat(parts).subarray(0, size);
  }
}
