import { closeSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { formatForPeople } from "#server/log/log-lines.ts";
import { appendTo, appendToFile, makeLogOutput } from "#server/log/log-output.ts";
import { tempDir } from "../../temp-dir.ts";

const notice = (lost: number) => `lost ${lost}\n`;

/** A disk that a test fills and clears; it takes what still fits. */
function makeDisk() {
  const disk = {
    room: Number.POSITIVE_INFINITY,
    text: "",
    append: async (bytes: Uint8Array) => {
      if (disk.room <= 0) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
      const taken = bytes.subarray(0, disk.room);
      disk.room -= taken.length;
      disk.text += Buffer.from(taken).toString();
      return taken.length;
    },
  };
  return disk;
}

test("lines that find no room are dropped, counted, and told of when there is room again", async ({ expect }) => {
  const disk = makeDisk();
  const log = makeLogOutput({ append: disk.append, notice });
  const say = async (line: string) => {
    log.write(line);
    return log.flush(60_000);
  };
  await say("one\n");
  disk.room = 2;
  expect([await say("two\n"), await say("three\n")]).toEqual([1, 2]);
  disk.room = Number.POSITIVE_INFINITY;
  expect(await say("four\n")).toBe(0);
  expect(disk.text).toBe("one\ntw\nlost 2\nfour\n");
});

test("a reader that stands still costs lines, neither memory nor the server", async ({ expect }) => {
  let go = () => {};
  const standing = new Promise<void>((resolve) => (go = resolve));
  const written: number[] = [];
  const log = makeLogOutput({
    append: async (bytes) => {
      await standing;
      written.push(bytes.length);
      return bytes.length;
    },
    notice,
  });
  const line = `${"x".repeat(1023)}\n`;
  for (let i = 0; i < 5_000; i++) log.write(line);
  expect(await log.flush(1)).toBeGreaterThan(4_900);
  go();
  expect(await log.flush(60_000)).toBe(0);
  expect(written.length).toBeGreaterThan(2);
  expect(written.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(1_100_000);
});

test.runIf(process.platform === "linux")("a full device is a full disk", async ({ expect }) => {
  const fd = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(fd));
  const log = makeLogOutput({ append: appendTo(fd), notice });
  log.write("one\n");
  expect(await log.flush(60_000)).toBe(1);
});

test("a file is kept small: one former file, private, and what was there before is not lost", async ({ expect }) => {
  const path = join(tempDir(), "server.log");
  writeFileSync(path, "before\n");
  const log = makeLogOutput({ append: appendToFile(path, 30), notice });
  for (const line of ["0123456789\n", "abcdefghij\n", "next\n", "last\n"]) {
    log.write(line);
    expect(await log.flush(60_000)).toBe(0);
  }
  expect(readFileSync(`${path}.1`, "utf8")).toBe("before\n0123456789\nabcdefghij\n");
  expect(readFileSync(path, "utf8")).toBe("next\nlast\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a person reads the time, the level, the message and what there is to know, on one line", ({ expect }) => {
  const line = (fields: object) =>
    `${JSON.stringify({ level: "warn", time: "2026-11-22T09:30:01.123Z", ...fields })}\n`;
  const fields = { msg: "sync failed", connectorId: "con_1", err: { message: "no\nroute\u001b[2J", stack: "at x" } };
  expect(formatForPeople(line(fields), false)).toBe("09:30:01 warn  sync failed connectorId=con_1 err=no route [2J\n");
  expect(formatForPeople(line({ msg: "x" }), true)).toContain("\u001b[33mwarn");
  expect(formatForPeople("plain words\n", false)).toBe("plain words\n");
});
