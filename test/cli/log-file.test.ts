import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { makeLogFile } from "#cli/host/log-file.ts";
import { tempDir } from "../temp-dir.ts";

test("lines are appended, for their owner only", ({ expect }) => {
  const path = join(tempDir(), "bridge.log");
  const append = makeLogFile(path);
  expect([append("one\n"), append("two\n")]).toEqual([undefined, undefined]);
  expect(readFileSync(path, "utf8")).toBe("one\ntwo\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("what can't be written is a code, and the next line is tried again", ({ expect }) => {
  const dir = tempDir();
  const append = makeLogFile(join(dir, "logs", "bridge.log"));
  expect(append("lost\n")).toBe("ENOENT");
  mkdirSync(join(dir, "logs"));
  expect(append("kept\n")).toBeUndefined();
  expect(makeLogFile(dir)("x\n")).toBe("EISDIR");
  rmSync(join(dir, "logs"), { recursive: true });
  expect(append("lost\n")).toBe("ENOENT");
});
