import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { openDataFolder } from "#server/adapters/data-folder.ts";
import { tempDir } from "../../helpers.ts";

test("a folder is made private and keeps its key", ({ expect }) => {
  const path = join(tempDir(), "new");
  const first = openDataFolder(path);
  const key = first.deriveKey("cursor");
  first.release();
  const second = openDataFolder(path);
  expect(second.deriveKey("cursor")).toEqual(key);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(path, "secret.key")).mode & 0o777).toBe(0o600);
  second.release();
});

test("a second server on the same folder is refused, and let in after the first released it", ({ expect }) => {
  const path = tempDir();
  const first = openDataFolder(path);
  expect(() => openDataFolder(path)).toThrow(expect.objectContaining({ code: "data_folder_in_use" }));
  first.release();
  openDataFolder(path).release();
});

test("a key that others can read stops the start", ({ expect }) => {
  const path = tempDir();
  openDataFolder(path).release();
  chmodSync(join(path, "secret.key"), 0o644);
  expect(() => openDataFolder(path)).toThrow(expect.objectContaining({ code: "data_folder_unusable" }));
  chmodSync(join(path, "secret.key"), 0o600);
  openDataFolder(path).release();
});

test("a path that is a file is refused with what to do", ({ expect }) => {
  const path = join(tempDir(), "new");
  openDataFolder(path).release();
  expect(() => openDataFolder(join(path, "secret.key"))).toThrow(/--data-dir/);
});
