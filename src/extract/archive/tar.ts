import { type Member, MAX_MEMBER_BYTES, MAX_MEMBERS, memberPath } from "./member.ts";
import { nameDecoder } from "#extract/archive-names.ts";

const BLOCK = 512;
/** Maximum number of entries that are read, of any type. */
const MAX_ENTRIES = 20_000;

/** True when the bytes begin like a tar archive: the first header's checksum is correct. */
export function looksLikeTar(bytes: Buffer): boolean {
  return bytes.length >= BLOCK && hasRightSum(bytes.subarray(0, BLOCK));
}

/** Returns the files in a tar archive, without links, devices and folders. Reading ends without an error at the first invalid header. */
export function readTar(bytes: Buffer): { members: Member[]; isCut: boolean } {
  const { entries, isCut } = readEntries(bytes);
  const decode = nameDecoder(entries.map(({ name }) => name));
  const members: Member[] = [];
  let room = MAX_MEMBER_BYTES;
  for (const { name, start, end } of entries) {
    const path = memberPath(decode(name));
    if (path === undefined) continue;
    const isRead = end <= bytes.length && end - start <= room && members.length < MAX_MEMBERS;
    if (isRead) room -= end - start;
    members.push(isRead ? { path, bytes: bytes.subarray(start, end) } : { path });
  }
  return { members, isCut };
}

interface TarEntry {
  name: Buffer;
  start: number;
  end: number;
}

function readEntries(bytes: Buffer): { entries: TarEntry[]; isCut: boolean } {
  const entries: TarEntry[] = [];
  let longName: Buffer | undefined;
  let at = 0;
  for (let count = 0; at + BLOCK <= bytes.length; count++) {
    const header = bytes.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) return { entries, isCut: false };
    if (count >= MAX_ENTRIES || !hasRightSum(header)) break;
    const size = numberAt(header, 124, 12);
    const start = at + BLOCK;
    const end = start + size;
    const type = String.fromCharCode(header[156] ?? 0);
    at = start + Math.ceil(size / BLOCK) * BLOCK;
    if (type === "L") longName = untilZero(bytes, start, Math.min(size, 4_096));
    else if (type === "x") longName = paxPath(bytes.subarray(start, Math.min(end, start + 65_536))) ?? longName;
    else if (type !== "K" && type !== "g") {
      if (FILES.has(type)) entries.push({ name: longName ?? nameOf(header), start, end });
      longName = undefined;
    }
  }
  return { entries, isCut: true };
}

/** Types of regular files: POSIX, old tar, contiguous. */
const FILES: ReadonlySet<string> = new Set(["0", "\0", "7"]);

function nameOf(header: Buffer): Buffer {
  const isPosix = header.toString("latin1", 257, 262) === "ustar";
  const prefix = isPosix ? untilZero(header, 345, 155) : Buffer.alloc(0);
  const name = untilZero(header, 0, 100);
  return prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from("/"), name]);
}

function untilZero(bytes: Buffer, start: number, length: number): Buffer {
  const field = bytes.subarray(start, start + length);
  const end = field.indexOf(0);
  return end < 0 ? field : field.subarray(0, end);
}

/** Parses octal digits, or a binary number whose first bit is set. Anything else returns a number larger than any file. */
function numberAt(header: Buffer, start: number, length: number): number {
  if (((header[start] ?? 0) & 0x80) !== 0) {
    let value = (header[start] ?? 0) & 0x7f;
    for (let i = start + 1; i < start + length; i++) value = Math.min(value * 256 + (header[i] ?? 0), 2 ** 52);
    return value;
  }
  const digits = untilZero(header, start, length).toString("latin1").trim();
  return /^[0-7]*$/u.test(digits) ? Number.parseInt(digits === "" ? "0" : digits, 8) : 2 ** 52;
}

function hasRightSum(header: Buffer): boolean {
  let sum = 8 * 0x20;
  for (let i = 0; i < BLOCK; i++) if (i < 148 || i >= 156) sum += header[i] ?? 0;
  return sum > 8 * 0x20 && numberAt(header, 148, 8) === sum;
}

/** Finds the `path` among the records `<length> <key>=<value>\n` of a pax header. */
function paxPath(bytes: Buffer): Buffer | undefined {
  let found: Buffer | undefined;
  for (let at = 0; at < bytes.length;) {
    const length = Number.parseInt(bytes.toString("latin1", at, at + 10), 10);
    if (!(length > 4)) break;
    const record = bytes.toString("latin1", at, at + length);
    const path = /^\d+ path=(.*)\n$/su.exec(record)?.[1];
    if (path !== undefined) found = Buffer.from(path, "latin1");
    at += length;
  }
  return found;
}
