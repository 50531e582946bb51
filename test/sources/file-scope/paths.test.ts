import { isUtf8 } from "node:buffer";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  bytesOf,
  foldersAbove,
  hasByteSegment,
  inUrl,
  isByteSegment,
  lastSegmentOf,
  pathOf,
  plainPath,
  readableSegment,
  segmentOf,
  segmentsOf,
} from "#sources/file-scope/paths.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");

/** Names as file systems allow them: any bytes but NUL and `/`, and neither `.` nor `..`; many look like ours. */
const fileName = fc
  .oneof(
    fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
    fc.string({ unit: "binary", minLength: 1, maxLength: 8 }).map((text) => Buffer.from(text)),
    fc
      .array(fc.constantFrom("%", "E4", "\xe4", ".", "a", "\xc3", "\xa4", "%25", "\xf0\x9f"), {
        minLength: 1,
        maxLength: 6,
      })
      .map((parts) => latin1(parts.join(""))),
  )
  .filter((name) => !name.includes(0) && !name.includes(0x2f) && !["", ".", ".."].includes(name.toString("latin1")));
const filePath = fc.array(fileName, { minLength: 1, maxLength: 4 });
const joined = (names: readonly Buffer[]) =>
  Buffer.concat(names.flatMap((name, i) => (i === 0 ? [name] : [latin1("/"), name])));

describe("ids of paths of bytes", () => {
  test.each([
    [latin1("a\xe4.txt"), "./a%E4.txt", "aä.txt"],
    [latin1("docs/100% \xe4/b.md"), "docs/./100%25 %E4/b.md", "b.md"],
    [Buffer.from("ä/%E4/b.md"), "ä/%E4/b.md", "b.md"],
    [Buffer.concat([Buffer.from("grün-"), latin1("\xe4\xff")]), "./grün-%E4%FF", "grün-äÿ"],
    [latin1("\x81"), "./%81", "\ufffd"],
    [latin1("\xed\xa0\x80"), "./%ED%A0%80", "í\u00a0€"],
  ])("%j", (bytes, id, readable) => {
    expect(pathOf(bytes)).toBe(id);
    expect(bytesOf(id)).toEqual(bytes);
    expect(readableSegment(lastSegmentOf(id))).toBe(readable);
  });

  test("every path has an id of its own, which gives its bytes back; a path in UTF-8 is its own id", () => {
    fc.assert(
      fc.property(filePath, (names) => {
        const path = joined(names);
        const id = pathOf(path);
        expect(bytesOf(id)).toEqual(path);
        expect(segmentsOf(id)).toEqual(names.map(segmentOf));
        expect(id).not.toMatch(/\p{Surrogate}/u);
        if (isUtf8(path)) expect(id).toBe(path.toString());
        else expect(hasByteSegment(id)).toBe(true);
        expect(plainPath(id)).toBe(path.toString("utf8"));
        expect([...foldersAbove(id)]).toEqual(names.slice(1).map((_, i) => pathOf(joined(names.slice(0, i + 1)))));
        expect(lastSegmentOf(id)).toBe(names.map(segmentOf).at(-1));
      }),
    );
  });

  test("another text than ours names no such file", () => {
    for (const text of ["./a", "./%41", "./a%e4", "./%C3%A4", "./%2F%E4", "./%25", "./", ".", "./../%E4", "./%E4%"])
      expect([text, hasByteSegment(text)]).toEqual([text, false]);
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(".", "/", "%", "E", "4", "2", "F", "a", "ä") }), (text) => {
        for (const segment of segmentsOf(text))
          if (isByteSegment(segment)) expect(segmentOf(bytesOf(segment))).toBe(segment);
        expect(segmentsOf(text).join("/")).toBe(text);
      }),
    );
  });

  test("a URL has the bytes", () => {
    expect(inUrl("docs/./a%E4 b.txt")).toBe("docs/a%E4%20b.txt");
    expect(inUrl("ä/%E4.txt")).toBe("%C3%A4/%25E4.txt");
    expect(inUrl("\ud800")).toBe("%EF%BF%BD");
    expect(inUrl("")).toBe("");
  });
});
