import { crc32 } from "node:zlib";
import { strToU8, zipSync } from "fflate";
import iconv from "iconv-lite";
import { describe, test } from "vitest";
import { DOCUMENT_ZIP_CAPS, openZip, type Zip } from "#extract/zip.ts";
import { makeOverlappingZip, patchZip } from "./zip-files.ts";

const CAPS = DOCUMENT_ZIP_CAPS;

/** Each place of some bytes with others of the same length. */
function replaceAll(bytes: Uint8Array, from: Buffer, to: Buffer): Uint8Array {
  const copy = Buffer.from(bytes);
  for (let at = copy.indexOf(from); at >= 0; at = copy.indexOf(from, at + 1)) to.copy(copy, at);
  return copy;
}
const textIn = (zip: Zip, name: string) => Buffer.from(zip.read(name, 1_000)).toString();

describe("a ZIP archive", () => {
  test("lists its entries and unpacks packed and stored ones", ({ expect }) => {
    const bytes = zipSync({
      "a/b.txt": strToU8("packed"),
      "s.txt": [strToU8("stored"), { level: 0 }],
      "a/c/": strToU8(""),
    });
    const zip = openZip(bytes, CAPS);
    expect(zip.entries.map(({ name, size, isFolder, isEncrypted }) => [name, size, isFolder, isEncrypted])).toEqual([
      ["a/b.txt", 6, false, false],
      ["s.txt", 6, false, false],
      ["a/c/", 0, true, false],
    ]);
    expect(textIn(zip, "a/b.txt")).toBe("packed");
    expect(textIn(zip, "s.txt")).toBe("stored");
  });

  test("is found by name without regard to case only when nothing has the exact name", ({ expect }) => {
    const zip = openZip(zipSync({ "A.xml": strToU8("upper"), "a.xml": strToU8("lower"), "B.xml": strToU8("b") }), CAPS);
    expect(textIn(zip, "a.xml")).toBe("lower");
    expect(textIn(zip, "b.XML")).toBe("b");
    expect(zip.find("c.xml")).toBeUndefined();
  });

  test("is read with bytes before it and a comment behind it", ({ expect }) => {
    const bytes = zipSync({ "a.txt": strToU8("here") });
    bytes[bytes.length - 2] = 3;
    expect(textIn(openZip(Buffer.concat([strToU8("#!/bin/sh\n"), bytes, strToU8("end")]), CAPS), "a.txt")).toBe("here");
  });

  test("gives names in UTF-8, those of DOS, and folders by backslash", ({ expect }) => {
    const dos = patchZip(zipSync({ "caf_.txt": strToU8("x") }), "_", Buffer.from([0x82]));
    expect(openZip(dos, CAPS).entries[0]?.name).toBe("café.txt");
    expect(openZip(zipSync({ "é\\b.txt": strToU8("x") }), CAPS).entries[0]?.name).toBe("é/b.txt");
  });

  test.for([
    ["shift_jis", ["議事録.txt", "予算表.txt", "資料/契約書.docx"]],
    ["cp866", ["Договор поставки.txt", "Отчёт.doc"]],
    ["gb18030", ["会议纪要.txt", "预算/合同.docx"]],
    ["euc-kr", ["회의록.txt", "예산 보고서.hwp"]],
    ["big5", ["會議記錄.txt", "預算表.xls"]],
    ["cp850", ["Größe.txt", "Straße.txt", "Übersicht/März.doc"]],
    ["cp437", ["Größe.txt"]],
    ["windows-1251", ["Приказ о назначении.txt"]],
  ] as const)("gives names in %s, guessed together", ([encoding, names], { expect }) => {
    // No two of them have the same length of letters in their places.
    const files = Object.fromEntries(names.map((_, at) => [`${"_".repeat(40)}${at}`, strToU8("x")]));
    let bytes: Uint8Array = zipSync(files);
    names.forEach((name, at) => {
      const raw = Buffer.alloc(41, 0x2e);
      iconv.encode(name, encoding).copy(raw);
      bytes = replaceAll(bytes, Buffer.from(`${"_".repeat(40)}${at}`), raw);
    });
    const found = openZip(bytes, CAPS).entries.map(({ name }) => name.replace(/\.+$/u, ""));
    expect(found).toEqual(names);
  });

  test("believes a Unicode path field that belongs to the name, and no other", ({ expect }) => {
    const field = (raw: Uint8Array) => {
      const data = Buffer.concat([Buffer.alloc(5), Buffer.from("契約.txt")]);
      data[0] = 1;
      data.writeUInt32LE(crc32(raw), 1);
      return Uint8Array.from(data);
    };
    const right = zipSync({ "____.txt": [strToU8("x"), { extra: { 0x7075: field(Buffer.from("____.txt")) } }] });
    expect(openZip(right, CAPS).entries[0]?.name).toBe("契約.txt");
    const stale = zipSync({ "____.txt": [strToU8("x"), { extra: { 0x7075: field(Buffer.from("other.txt")) } }] });
    expect(openZip(stale, CAPS).entries[0]?.name).toBe("____.txt");
  });

  test("an encrypted entry says so and is not read", ({ expect }) => {
    const bytes = zipSync({ "a.txt": strToU8("secret") });
    const at = Buffer.from(bytes).indexOf("504b0102", 0, "hex");
    bytes[at + 8] = (bytes[at + 8] ?? 0) | 1;
    const zip = openZip(bytes, CAPS);
    expect(zip.entries[0]?.isEncrypted).toBe(true);
    expect(() => zip.read("a.txt", 100)).toThrow(expect.objectContaining({ reason: "encrypted" }));
  });
});

describe("a hostile ZIP archive", () => {
  const zeros = zipSync({ bomb: new Uint8Array(12_000_000) });

  test("is stopped by what it really unpacks, whatever the directory claims", ({ expect }) => {
    const lying = zeros.slice();
    const at = Buffer.from(lying).indexOf("504b0102", 0, "hex");
    new DataView(lying.buffer).setUint32(at + 24, 10, true);
    const zip = openZip(lying, { ...CAPS, maxRatio: 2_000 });
    expect(zip.entries[0]?.size).toBe(10);
    expect(() => zip.read("bomb", 1_000_000)).toThrow(expect.objectContaining({ reason: "too_large" }));
  });

  test("of a high ratio is stopped before it is unpacked", ({ expect }) => {
    let unpacked = 0;
    const read = () => openZip(zeros, CAPS).stream("bomb", (piece) => void (unpacked += piece.length));
    expect(read).toThrow("unpacks to more than 300 times its size");
    expect(unpacked).toBeLessThan(20_000_000);
  });

  test("may be read many times only up to one sum", ({ expect }) => {
    const zip = openZip(zeros, { ...CAPS, maxRatio: 2_000, maxUnpackedBytes: 30_000_000 });
    zip.read("bomb", 50_000_000);
    zip.read("bomb", 50_000_000);
    expect(() => zip.read("bomb", 50_000_000)).toThrow("the archive unpacks to more than 30000000 bytes");
  });

  test("whose entries share bytes is refused", ({ expect }) => {
    expect(() => openZip(makeOverlappingZip(50), CAPS)).toThrow("share the same bytes");
  });

  test("with more entries than allowed, or fewer than it says, is refused", ({ expect }) => {
    const bytes = zipSync({ a: strToU8("1"), b: strToU8("2"), c: strToU8("3") });
    expect(() => openZip(bytes, { ...CAPS, maxEntries: 2 })).toThrow(expect.objectContaining({ reason: "too_large" }));
    const claims = bytes.slice();
    new DataView(claims.buffer).setUint16(claims.length - 12, 9, true);
    expect(() => openZip(claims, CAPS)).toThrow("directory is broken");
  });

  test("that is cut, empty of sense, or packed by an unknown method fails with a reason", ({ expect }) => {
    const bytes = zipSync({ a: strToU8("1".repeat(500)) });
    expect(() => openZip(bytes.subarray(0, 60), CAPS)).toThrow("it is cut off, or isn't a ZIP file");
    expect(() => openZip(new Uint8Array(10), CAPS)).toThrow("it is cut off, or isn't a ZIP file");
    const method = bytes.slice();
    method[Buffer.from(method).indexOf("504b0102", 0, "hex") + 10] = 14;
    expect(() => openZip(method, CAPS).read("a", 1_000)).toThrow("packed by method 14");
    const broken = bytes.slice();
    broken.fill(0xff, 31, 36);
    expect(() => openZip(broken, CAPS).read("a", 1_000)).toThrow(expect.objectContaining({ reason: "failed" }));
  });

  test("sizes and offsets of 64 bits are believed only within the file", ({ expect }) => {
    const bytes = zipSync({ a: strToU8("1") }).slice();
    const view = new DataView(bytes.buffer);
    view.setUint32(bytes.length - 6, 0xffffffff, true);
    expect(() => openZip(bytes, CAPS)).toThrow("no directory at its end");
  });
});
