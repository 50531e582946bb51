import { crc32, deflateRawSync } from "node:zlib";

/** A ZIP archive as programs write it. By the zlib of Node: in JavaScript the bombs among them take seconds. */
export function makeZip(files: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const locals: Buffer[] = [];
  const records: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of Object.entries(files)) {
    const name = Buffer.from(path);
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    for (const [mark, list] of [
      [LOCAL, locals],
      [RECORD, records],
    ] as const) {
      const shift = mark === RECORD ? 2 : 0;
      const head = header(mark, name, packed.length, offset);
      // Names are UTF-8.
      head.writeUInt16LE(0x0800, 6 + shift);
      head.writeUInt16LE(FIRST_DAY, 12 + shift);
      head.writeUInt32LE(crc32(bytes), 14 + shift);
      head.writeUInt32LE(bytes.length, 22 + shift);
      list.push(head, name);
    }
    locals.push(packed);
    offset += 30 + name.length + packed.length;
  }
  return withDirectory(Buffer.concat(locals), Buffer.concat(records), Object.keys(files).length);
}

/** 1980-01-01, the first day that there is. */
const FIRST_DAY = 0x0021;

function withDirectory(body: Buffer, directory: Buffer, entries: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries, 8);
  end.writeUInt16LE(entries, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(body.length, 16);
  return Buffer.concat([body, directory, end]);
}

/** The archive with each occurrence of a character in its names replaced by other bytes of the same length. */
export function patchZip(bytes: Uint8Array, character: string, replacement: Uint8Array): Uint8Array {
  const patched = bytes.slice();
  patched.forEach((byte, index) => {
    if (byte === character.charCodeAt(0)) patched.set(replacement, index);
  });
  return patched;
}

/** "A better zip bomb": many entries in the directory over the bytes of one, each with a local header of its own. */
export function makeOverlappingZip(entries: number, name = "word/document"): Uint8Array {
  const packed = deflateRawSync(Buffer.alloc(1_000_000));
  const names = Array.from({ length: entries }, (_, index) => Buffer.from(`${name}${index}`));
  const locals = names.map((bytes, index) =>
    Buffer.concat([header(LOCAL, bytes, packed.length + restLength(names, index), 0), bytes]),
  );
  const body = Buffer.concat([...locals, packed]);
  let offset = 0;
  const records = names.map((bytes, index) => {
    const record = header(RECORD, bytes, packed.length + restLength(names, index), offset);
    offset += 30 + bytes.length;
    return Buffer.concat([record, bytes]);
  });
  return withDirectory(body, Buffer.concat(records), entries);
}

const LOCAL = 0x04034b50;
const RECORD = 0x02014b50;

/** Bytes of the local headers behind this one, which its data quotes. */
function restLength(names: readonly Buffer[], index: number): number {
  return names.slice(index + 1).reduce((sum, name) => sum + 30 + name.length, 0);
}

function header(mark: number, name: Buffer, packedSize: number, offset: number): Buffer {
  const isRecord = mark === RECORD;
  const bytes = Buffer.alloc(isRecord ? 46 : 30);
  const shift = isRecord ? 2 : 0;
  bytes.writeUInt32LE(mark, 0);
  bytes.writeUInt16LE(8, 8 + shift);
  bytes.writeUInt32LE(packedSize, 18 + shift);
  bytes.writeUInt32LE(1_000_000, 22 + shift);
  bytes.writeUInt16LE(name.length, 26 + shift);
  if (isRecord) bytes.writeUInt32LE(offset, 42);
  return bytes;
}
