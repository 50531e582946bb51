import { existsSync, readdirSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type HeldBytes, letGo, makeSpool, piecesOf, SPOOLED_FROM_BYTES, takeWhole } from "#core/spool.ts";
import { makeOwnSpool } from "../spool.ts";

const MEGABYTE = 1024 * 1024;

async function* pieces(length: number, of = 100_000): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < length; at += of) yield bytesAt(at, Math.min(of, length - at));
}

/** Different at each place, so that pieces in another order are other bytes. */
function bytesAt(at: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => ((at + i) * 31 + ((at + i) >> 8)) % 251);
}

async function collect(bytes: HeldBytes): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of piecesOf(bytes)) all.push(piece);
  return Buffer.concat(all);
}

/** Files that this process has open and that have no name any more. */
function nameless(folder: string): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(folder) && target.endsWith("(deleted)") ? [fd] : [];
    } catch {
      return [];
    }
  });
}

test("few bytes stay in memory, and no folder is made for them", async () => {
  const { folder } = makeOwnSpool(onTestFinished);
  const spool = makeSpool(join(folder, "below"));
  const kept = await spool.keep(pieces(SPOOLED_FROM_BYTES), 10 * MEGABYTE);
  expect(kept).toBeInstanceOf(Uint8Array);
  const got = await collect(kept ?? new Uint8Array());
  expect(got.equals(Buffer.from(bytesAt(0, SPOOLED_FROM_BYTES)))).toBe(true);
  expect(existsSync(join(folder, "below"))).toBe(false);
});

test("many bytes are in a file that has no name, whole and as often as they are read", async () => {
  const { folder, spool } = makeOwnSpool(onTestFinished);
  const size = 3 * MEGABYTE + 7;
  const kept = await spool.keep(pieces(size), 10 * MEGABYTE);
  if (kept === undefined || kept instanceof Uint8Array) throw new Error("They are not spooled.");
  expect(readdirSync(folder)).toEqual([]);
  const [fd = ""] = nameless(folder);
  expect(statSync(`/proc/self/fd/${fd}`).mode & 0o777).toBe(0o600);
  const wanted = Buffer.from(bytesAt(0, size));
  expect((await collect(kept)).equals(wanted)).toBe(true);
  expect(Buffer.from(await takeWhole(kept)).equals(wanted)).toBe(true);
  await expect(collect(kept)).rejects.toThrow();
  await expect.poll(() => nameless(folder)).toEqual([]);
});

test("more bytes than are wanted are not kept, and whatever ends the reading leaves no file open", async () => {
  const { folder, spool } = makeOwnSpool(onTestFinished);
  expect(await spool.keep(pieces(3 * MEGABYTE), 2 * MEGABYTE)).toBeUndefined();
  async function* broken() {
    yield* pieces(2 * MEGABYTE);
    throw new Error("The connection broke.");
  }
  await expect(spool.keep(broken(), 9 * MEGABYTE)).rejects.toThrow("broke");
  await expect.poll(() => nameless(folder)).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

test("what is cut into several is closed with the last of them", async () => {
  const { folder, spool } = makeOwnSpool(onTestFinished);
  const writer = spool.begin();
  for await (const piece of pieces(1_000, 300)) writer.write(piece);
  const [first, empty, last] = writer.end([400, 0, 600]);
  await writer.written();
  if (!first || !empty || !last) throw new Error("They are three.");
  expect(await collect(empty)).toEqual(Buffer.alloc(0));
  expect(await collect(last)).toEqual(Buffer.from(bytesAt(400, 600)));
  letGo(last);
  letGo(last);
  letGo(empty);
  expect(await collect(first)).toEqual(Buffer.from(bytesAt(0, 400)));
  letGo(first);
  await expect.poll(() => nameless(folder)).toEqual([]);
});

test("a folder that can't be written says so, and what a killed process left is removed", async () => {
  const { folder, spool } = makeOwnSpool(onTestFinished);
  writeFileSync(join(folder, "left"), "of a process that was killed");
  spool.clear();
  expect(readdirSync(folder)).toEqual([]);
  writeFileSync(join(folder, "file"), "");
  const nowhere = makeSpool(join(folder, "file", "below"));
  await expect(nowhere.keep(pieces(2 * MEGABYTE), 9 * MEGABYTE)).rejects.toMatchObject({ code: "database_unusable" });
  nowhere.clear();
});

// Every write to it fails as on a full disk.
test.skipIf(!existsSync("/dev/full"))("a full disk says so", async () => {
  const spool = makeSpool("/nowhere", async () => {
    const { open } = await import("node:fs/promises");
    return open("/dev/full", "w");
  });
  await expect(spool.keep(pieces(2 * MEGABYTE), 9 * MEGABYTE)).rejects.toMatchObject({ code: "storage_full" });
});
