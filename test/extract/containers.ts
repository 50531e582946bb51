import { gzipSync } from "node:zlib";

type Files = Record<string, string | Uint8Array>;

const toBytes = (content: string | Uint8Array) => (typeof content === "string" ? Buffer.from(content) : content);

/** A tar archive of regular files; a type other than "0" makes them something else. */
export function makeTar(files: Files, type = "0", names: BufferEncoding = "utf8"): Buffer {
  const blocks = Object.entries(files).flatMap(([name, content]) => {
    const body = toBytes(content);
    const padding = Buffer.alloc((512 - (body.length % 512)) % 512);
    return [tarHeader(name, body.length, type, names), body, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1_024)]);
}

export function tarHeader(name: string, size: number, type: string, names: BufferEncoding = "utf8"): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, 100, names);
  header.write(`0000644\0`, 100);
  header.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  header.write("        ", 148);
  header.write(type, 156);
  header.write("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

export const makeTgz = (files: Files): Buffer => gzipSync(makeTar(files));

/** Storages by name, streams by their bytes. */
export interface Storage {
  [name: string]: Uint8Array | Storage;
}

/** A compound file (OLE) of 512-byte sectors; every stream is filled up to the size of a large one. */
export function makeCompoundFile(root: Storage): Buffer {
  const entries: { name: string; type: number; children: number[]; body: Buffer }[] = [];
  const add = (name: string, type: number, content: Uint8Array | Storage): number => {
    const isStream = content instanceof Uint8Array;
    const entry = { name, type, children: [] as number[], body: isStream ? padded(content) : Buffer.alloc(0) };
    const index = entries.push(entry) - 1;
    if (!isStream)
      entry.children = Object.entries(content).map(([key, inner]) =>
        add(key, inner instanceof Uint8Array ? 2 : 1, inner),
      );
    return index;
  };
  add("Root Entry", 5, root);
  const next = new Map(entries.flatMap(({ children }) => children.slice(1).map((child, at) => [children[at], child])));
  const directory = Buffer.alloc(Math.ceil(entries.length / 4) * 512);
  const sectors = directory.length / 512;
  const chains: number[][] = [range(0, sectors)];
  let free = sectors;
  entries.forEach(({ name, type, children, body }, index) => {
    const at = index * 128;
    directory.write(name, at, "utf16le");
    directory.writeUInt16LE(name.length * 2 + 2, at + 64);
    directory[at + 66] = type;
    directory.writeUInt32LE(0xffffffff, at + 68);
    directory.writeUInt32LE(next.get(index) ?? 0xffffffff, at + 72);
    directory.writeUInt32LE(children[0] ?? 0xffffffff, at + 76);
    directory.writeUInt32LE(type === 2 ? free : 0xfffffffe, at + 116);
    directory.writeUInt32LE(body.length, at + 120);
    if (type === 2) chains.push(range(free, (free += body.length / 512)));
  });
  const tableSectors = Math.ceil((free + 8) / 128);
  const table = Buffer.alloc(tableSectors * 512, 0xff);
  for (const chain of chains)
    chain.forEach((sector, at) => table.writeUInt32LE(chain[at + 1] ?? 0xfffffffe, sector * 4));
  const header = Buffer.alloc(512, 0xff);
  Buffer.from("d0cf11e0a1b11ae1", "hex").copy(header);
  header.writeUInt16LE(9, 30);
  header.writeUInt16LE(6, 32);
  header.writeUInt32LE(0, 48);
  header.writeUInt32LE(4_096, 56);
  header.writeUInt32LE(0xfffffffe, 60);
  header.writeUInt32LE(0xfffffffe, 68);
  range(free, free + tableSectors).forEach((sector, at) => header.writeUInt32LE(sector, 76 + at * 4));
  return Buffer.concat([header, directory, ...entries.map(({ body }) => body), table]);
}

/** A message of Outlook with this text and one attached file. */
export function makeMsg(subject: string, body: string, more: Storage = {}): Buffer {
  const text = (value: string) => Buffer.from(value, "utf16le");
  return makeCompoundFile({
    "__properties_version1.0": Buffer.alloc(32),
    "__substg1.0_0037001F": text(subject),
    "__substg1.0_0C1A001F": text("Ana"),
    "__substg1.0_0C1F001F": text("ana@one.test"),
    "__substg1.0_1000001F": text(body),
    "__recip_version1.0_#00000000": {
      "__properties_version1.0": Buffer.alloc(8),
      "__substg1.0_3001001F": text("Bo"),
      "__substg1.0_39FE001F": text("bo@two.test"),
    },
    "__attach_version1.0_#00000000": {
      "__properties_version1.0": Buffer.alloc(8),
      "__substg1.0_3707001F": text("Plan.txt"),
      "__substg1.0_37010102": Buffer.from("the plan"),
    },
    ...more,
  });
}

/** A JPEG without a picture: its EXIF description, artist and model, and a comment. */
export function makeJpeg(facts: { description: string; artist: string; model: string; comment?: string }): Buffer {
  const values = [
    [0x010e, facts.description],
    [0x0110, facts.model],
    [0x013b, facts.artist],
  ] as const;
  const tiff = Buffer.alloc(14 + values.length * 12);
  tiff.write("II*\0", 0, "latin1");
  tiff.writeUInt32LE(8, 4);
  tiff.writeUInt16LE(values.length, 8);
  const bodies = values.map(([, value]) => Buffer.from(`${value}\0`));
  let offset = tiff.length;
  values.forEach(([tag], index) => {
    const at = 10 + index * 12;
    const length = bodies[index]?.length ?? 0;
    tiff.writeUInt16LE(tag, at);
    tiff.writeUInt16LE(2, at + 2);
    tiff.writeUInt32LE(length, at + 4);
    if (length <= 4) bodies[index]?.copy(tiff, at + 8);
    else tiff.writeUInt32LE(offset, at + 8);
    offset += length;
  });
  const exif = Buffer.concat([Buffer.from("Exif\0\0"), tiff, ...bodies]);
  const size = Buffer.from([8, 0, 100, 0, 200, 1, 1, 17, 0]);
  const segments = [segment(0xe1, exif), segment(0xc0, size), segment(0xfe, Buffer.from(facts.comment ?? ""))];
  return Buffer.concat([Buffer.from([0xff, 0xd8]), ...segments, Buffer.from([0xff, 0xd9])]);
}

/** An MP3 file without sound: its ID3 tags. */
export function makeMp3(tags: { title: string; artist: string; album: string }): Buffer {
  const frames = Object.entries({ TIT2: tags.title, TPE1: tags.artist, TALB: tags.album }).map(([id, value]) => {
    const body = Buffer.concat([Buffer.from([3]), Buffer.from(value)]);
    const head = Buffer.alloc(10);
    head.write(id);
    head.writeUInt32BE(body.length, 4);
    return Buffer.concat([head, body]);
  });
  const body = Buffer.concat(frames);
  const head = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, 0, 0, body.length >> 7, body.length & 127]);
  const silence = Buffer.alloc(417 * 4);
  for (let at = 0; at < silence.length; at += 417) silence.writeUInt32BE(0xfffb9000, at);
  return Buffer.concat([head, body, silence]);
}

function segment(marker: number, body: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([head, body]);
}

function padded(content: Uint8Array): Buffer {
  return Buffer.concat([content], Math.max(4_096, Math.ceil(content.length / 512) * 512));
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}
