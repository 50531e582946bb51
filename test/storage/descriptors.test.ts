import { copyFileSync, readdirSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { openDatabase } from "#storage/database/db.ts";
import { freeClosed } from "../helpers.ts";
import { tempDir } from "../temp-dir.ts";

const openFiles = () => readdirSync("/proc/self/fd").length;

test("stores that are closed keep no file open", async ({ expect, skip }) => {
  skip(platform() !== "linux", "Only Linux tells of a process's open files in /proc.");
  const dir = tempDir();
  const first = join(dir, "first.db");
  const open = async (file: string) => {
    const database = await openDatabase({ file });
    await database.read.selectFrom("workspaces").selectAll().execute();
    await database.write.deleteFrom("workspaces").execute();
    await database.close();
  };
  await open(first);
  await freeClosed();
  const before = openFiles();
  for (let n = 0; n < 50; n++) {
    const file = join(dir, `${n}.db`);
    copyFileSync(first, file);
    await open(file);
  }
  await freeClosed();
  // One has seven: each of its three connections a file and the log of it, and all together the log's index.
  expect(openFiles() - before).toBeLessThanOrEqual(7);
});
