import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import iconv from "iconv-lite";
import { describe, test } from "vitest";
import { memberPath } from "#extract/archive/member.ts";
import { makeTar, makeTgz, tarHeader } from "../containers.ts";
import { extractFile } from "../documents.ts";
import { makeZip } from "../zip-files.ts";

const open = (name: string, bytes: Uint8Array) => extractFile(name, bytes, {}, { readsArchives: true });
const partsOf = (result: Awaited<ReturnType<typeof open>>) =>
  result.state === "ok" ? result.children?.map(({ id, bytes }) => [id, Buffer.from(bytes).toString()]) : result.message;

describe("an archive", () => {
  const files = { "a.txt": "alpha", "docs/b.md": "# beta" };

  test.for([
    ["a.zip", makeZip(files)],
    ["a.tar", makeTar(files)],
    ["a.tgz", makeTgz(files)],
  ] as const)("is the list of its members, which are parts: %s", async ([name, bytes], { expect }) => {
    const result = await open(name, bytes);
    expect(result).toMatchObject({ text: "- a.txt\n- docs/b.md\n", properties: { members: "2" } });
    expect(partsOf(result)).toEqual([
      ["a.txt", "alpha"],
      ["docs/b.md", "# beta"],
    ]);
    expect(await extractFile(name, bytes)).toMatchObject({ reason: "unsupported_type" });
  });

  test("that is one file packed by gzip has it as its part", async ({ expect }) => {
    expect(partsOf(await open("notes.txt.gz", gzipSync("hello")))).toEqual([["notes.txt", "hello"]]);
  });

  test("has no way out of itself, whatever its members are called", async ({ expect }) => {
    const names = [
      "../../etc/passwd",
      "/abs",
      "C:\\temp\\x",
      "a/./b",
      "..",
      "x\0y",
      ".git/config",
      "__MACOSX/._a",
      "dir/",
    ];
    expect(names.map(memberPath)).toEqual([
      "etc/passwd",
      "abs",
      "temp/x",
      "a/b",
      undefined,
      "xy",
      undefined,
      undefined,
      undefined,
    ]);
    expect(partsOf(await open("a.tar", makeTar({ "../x": "1", "./x": "2" })))).toEqual([
      ["x", "1"],
      ["x#2", "2"],
    ]);
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("/", "\\", ".", "a", ":", "\0", " ") }), (name) => {
        const path = memberPath(name);
        if (path === undefined) return;
        expect(
          path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && part === part.trim()),
        ).toBe(true);
      }),
    );
  });

  test("has no links, devices or folders in it", async ({ expect }) => {
    for (const type of ["1", "2", "3", "5", "6"])
      expect(await open("a.tar", makeTar({ x: "" }, type))).toMatchObject({ reason: "empty" });
  });

  test("gives names of a tar in the encoding of the machine that packed it", async ({ expect }) => {
    const raw = (name: string) => iconv.encode(name, "shift_jis").toString("latin1");
    const tar = makeTar({ [raw("議事録.txt")]: "1", [raw("予算表.txt")]: "2" }, "0", "latin1");
    expect(partsOf(await open("a.tar", tar))).toEqual([
      ["議事録.txt", "1"],
      ["予算表.txt", "2"],
    ]);
  });

  test("gives long names of both kinds of tar", async ({ expect }) => {
    const long = `${"d/".repeat(80)}file.txt`;
    const gnu = [tarHeader("././@LongLink", long.length, "L"), Buffer.concat([Buffer.from(long)], 512)];
    expect(partsOf(await open("a.tar", Buffer.concat([...gnu, makeTar({ cut: "1" })])))).toEqual([
      [`${"d/".repeat(29)}file.txt`, "1"],
    ]);
    const pax = Buffer.from("20 path=über/a.txt\n");
    const posix = [tarHeader("pax", pax.length, "x"), Buffer.concat([pax], 512)];
    expect(partsOf(await open("a.tar", Buffer.concat([...posix, makeTar({ cut: "2" })])))).toEqual([
      ["über/a.txt", "2"],
    ]);
  });

  test("larger than the caps gives what is within them, a bomb nothing", async ({ expect }) => {
    const many = Object.fromEntries(Array.from({ length: 1_100 }, (_, i) => [`f${i}`, "x"]));
    const result = await open("a.tar", makeTar(many));
    expect(result).toMatchObject({ properties: { members: "1100", membersLeftOut: "100" } });
    expect(await open("bomb.gz", gzipSync(Buffer.alloc(80_000_000)))).toMatchObject({
      state: "no_text",
      reason: "failed",
    });
    expect(await open("bomb.zip", makeZip({ a: Buffer.alloc(80_000_000) }))).toMatchObject({
      properties: { members: "1", membersLeftOut: "1" },
    });
  });

  test("with a size beyond its end gives what comes before", async ({ expect }) => {
    const cut = Buffer.concat([makeTar({ a: "1" }).subarray(0, 1_024), tarHeader("b", 8_000_000_000, "0")]);
    expect(partsOf(await open("a.tar", cut))).toEqual([["a", "1"]]);
  });
});
