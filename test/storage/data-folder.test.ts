import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { openDataFolder } from "#storage/data-folder.ts";
import { openDatabase } from "#storage/database/db.ts";
import { tempDir } from "../temp-dir.ts";

const modeOf = (...parts: string[]) => statSync(join(...parts)).mode & 0o777;

/** A folder as a server that was used leaves it. */
async function makeUsed(path: string): Promise<void> {
  const folder = openDataFolder(path);
  const database = await openDatabase({ file: folder.databaseFile });
  folder.openKey(false);
  await database.close();
  folder.release();
}

test("a folder is made private and keeps its key", ({ expect }) => {
  const path = join(tempDir(), "new", "deeper");
  const first = openDataFolder(path);
  const key = first.openKey(false)("cursor");
  writeFileSync(first.databaseFile, "x");
  first.release();
  const second = openDataFolder(path);
  expect(second.openKey(true)("cursor")).toEqual(key);
  expect([modeOf(path, ".."), modeOf(path), modeOf(path, "secret.key")]).toEqual([0o700, 0o700, 0o600]);
  second.release();
});

test("a second server on the same folder is refused, and let in after the first released it", ({ expect }) => {
  const path = tempDir();
  const first = openDataFolder(path);
  expect(() => openDataFolder(path)).toThrow(expect.objectContaining({ code: "data_folder_in_use" }));
  first.release();
  openDataFolder(path).release();
});

test("a path that is a file, or below one, is refused with what to do", ({ expect }) => {
  const file = join(tempDir(), "file");
  writeFileSync(file, "");
  for (const path of [file, join(file, "below")]) {
    expect(() => openDataFolder(path)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/--data-dir/) }),
    );
  }
});

test.runIf(process.platform === "linux")("a folder below /proc is refused, not tried for ever", ({ expect }) => {
  for (const path of ["/proc/kb-data", "/proc/kb/data"]) {
    expect(() => openDataFolder(path)).toThrow(expect.objectContaining({ code: "data_folder_unusable" }));
  }
});

describe("what other users can read", () => {
  test("is closed at start, and said once", async ({ expect }) => {
    const path = tempDir();
    await makeUsed(path);
    chmodSync(path, 0o755);
    const names = readdirSync(path);
    expect(names).toEqual(expect.arrayContaining(["kb.db", "lock", "secret.key"]));
    for (const name of names) chmodSync(join(path, name), 0o644);
    const opened = openDataFolder(path);
    expect(opened.closed.toSorted()).toEqual([path, ...names.map((name) => join(path, name))]);
    opened.release();
    expect(modeOf(path)).toBe(0o700);
    expect(names.map((name) => modeOf(path, name))).toEqual(names.map(() => 0o600));
    const again = openDataFolder(path);
    expect(again.closed).toEqual([]);
    again.release();
  });

  test("is nothing from birth, the write-ahead log included", async ({ expect }) => {
    const path = join(tempDir(), "data");
    const umask = process.umask(0);
    try {
      const folder = openDataFolder(path);
      const database = await openDatabase({ file: folder.databaseFile });
      folder.openKey(false);
      const modes = Object.fromEntries(readdirSync(path).map((name) => [name, modeOf(path, name)]));
      expect(modes).toEqual({
        "kb.db": 0o600,
        "kb.db-shm": 0o600,
        "kb.db-wal": 0o600,
        lock: 0o600,
        "lock-journal": 0o600,
        "secret.key": 0o600,
      });
      await database.close();
      folder.release();
    } finally {
      process.umask(umask);
    }
  });

  test.runIf(process.getuid?.() === 0)(
    "is refused to another user of the machine, file by file",
    async ({ expect }) => {
      const path = tempDir();
      await makeUsed(path);
      chmodSync(path, 0o755);
      chmodSync(join(path, "kb.db"), 0o644);
      const nobody = { uid: 65_534, gid: 65_534 };
      const readAsNobody = () => spawnSync("cat", [join(path, "kb.db")], nobody).stdout.length;
      expect(readAsNobody()).toBeGreaterThan(0);
      openDataFolder(path).release();
      // The folder alone would do; each file stands for itself, should the folder be opened by hand.
      chmodSync(path, 0o755);
      expect(readAsNobody()).toBe(0);
    },
  );

  test("is open to the folder's group where the operator wants that", async ({ expect }) => {
    const path = tempDir();
    await makeUsed(path);
    chmodSync(join(path, "kb.db"), 0o666);
    const folder = openDataFolder(path, "group");
    expect([modeOf(path), modeOf(path, "kb.db"), modeOf(path, "secret.key")]).toEqual([0o750, 0o640, 0o640]);
    folder.release();
    openDataFolder(path).release();
    expect([modeOf(path), modeOf(path, "kb.db")]).toEqual([0o700, 0o600]);
  });

  test("is not taken away where the folder holds other people's files", ({ expect }) => {
    const path = tempDir();
    writeFileSync(join(path, "letter.txt"), "Dear all");
    chmodSync(path, 0o755);
    expect(() => openDataFolder(path)).toThrow(/contains files that are not kb's/);
    expect([modeOf(path), readdirSync(path)]).toEqual([0o755, ["letter.txt"]]);
    // A new volume is empty but for what the system puts there.
    rmSync(join(path, "letter.txt"));
    mkdirSync(join(path, "lost+found"));
    openDataFolder(path).release();
    expect(modeOf(path)).toBe(0o700);
  });
});

describe("a folder that lost something is not taken for a new one", () => {
  test.for([
    ["is missing", (file: string) => rmSync(file)],
    ["is empty", (file: string) => truncateSync(file)],
  ] as const)("its database %s", async ([what, harm], { expect }) => {
    const path = tempDir();
    await makeUsed(path);
    harm(join(path, "kb.db"));
    const failure = { code: "data_folder_unusable", message: expect.stringContaining(`kb.db ${what}, but`) };
    expect(() => openDataFolder(path)).toThrow(expect.objectContaining(failure));
    // The way that the message names.
    for (const name of readdirSync(path)) rmSync(join(path, name));
    openDataFolder(path).release();
  });

  test("its key is missing", async ({ expect }) => {
    const path = tempDir();
    await makeUsed(path);
    rmSync(join(path, "secret.key"));
    const folder = openDataFolder(path);
    const failure = { code: "data_folder_unusable", message: expect.stringMatching(/Restore it from a backup/) };
    expect(() => folder.openKey(true)).toThrow(expect.objectContaining(failure));
    expect(readdirSync(path)).not.toContain("secret.key");
    // A start that was cut short before anybody used it: nothing is lost.
    folder.openKey(false);
    folder.release();
  });

  test("its key was cut short", async ({ expect }) => {
    const path = tempDir();
    await makeUsed(path);
    truncateSync(join(path, "secret.key"), 7);
    const folder = openDataFolder(path);
    expect(() => folder.openKey(true)).toThrow(/7 bytes instead of 32/);
    folder.release();
  });
});

test("a database that is none is refused with its path and the next step", async ({ expect }) => {
  const file = join(tempDir(), "kb.db");
  writeFileSync(file, "This is a letter. ".repeat(1_000));
  await expect(openDatabase({ file })).rejects.toMatchObject({
    code: "database_damaged",
    message: `The database ${file} can't be opened (file is not a database). It is damaged. Restore it from a backup.`,
  });
});
