import { chmodSync, cpSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { type FolderMark, isRestored, stepMark } from "#storage/folder-mark.ts";
import { tempDir } from "../temp-dir.ts";

/** A data folder and the one note that its database has; a copy of both is what a backup holds. */
function makeFolder() {
  const path = join(tempDir(), "data");
  cpSync(tempDir(), path, { recursive: true });
  let noted: FolderMark | undefined;
  const records = { findMark: async () => noted, noteMark: async (mark: FolderMark) => void (noted = mark) };
  return {
    path,
    step: () => stepMark(path, records),
    noted: () => noted,
    /** The database as it was then. */
    restoreNote: (then: FolderMark | undefined) => void (noted = then),
    isRestored: () => isRestored(path, noted),
    marks: () => readdirSync(path).sort(),
  };
}

async function makeUsed(steps = 3) {
  const folder = makeFolder();
  for (let i = 0; i < steps; i++) await folder.step();
  return folder;
}

describe("a server that starts again on its own folder", () => {
  test("finds nothing restored: new, used, renamed, or with other modes and owners' dates", async ({ expect }) => {
    const folder = await makeUsed(0);
    expect(folder.isRestored()).toBe(false);
    await folder.step();
    expect(folder.isRestored()).toBe(false);
    for (let i = 0; i < 5; i++) await folder.step();
    expect(folder.isRestored()).toBe(false);
    expect(folder.marks()).toEqual([".mark-5", ".mark-6"]);
    const [last = ""] = folder.marks().slice(-1);
    chmodSync(join(folder.path, last), 0o640);
    utimesSync(join(folder.path, last), 1, 1);
    const moved = `${folder.path}.moved`;
    renameSync(folder.path, moved);
    expect(isRestored(moved, folder.noted())).toBe(false);
  });

  test("finds nothing restored where it died between the file and the note, or the note was lost", async ({
    expect,
  }) => {
    const folder = await makeUsed();
    const before = folder.noted();
    await folder.step();
    folder.restoreNote(before);
    expect(folder.isRestored()).toBe(false);
    await folder.step();
    expect(folder.isRestored()).toBe(false);
  });
});

describe("what was restored is found", () => {
  test("the database alone, of some steps before", async ({ expect }) => {
    const folder = await makeUsed();
    const backup = folder.noted();
    await folder.step();
    await folder.step();
    folder.restoreNote(backup);
    expect(folder.isRestored()).toBe(true);
    await folder.step();
    expect(folder.isRestored()).toBe(false);
  });

  test("the database alone, of before it took notes", async ({ expect }) => {
    const folder = await makeUsed();
    folder.restoreNote(undefined);
    expect(folder.isRestored()).toBe(true);
  });

  test("the database and the key, without the file", async ({ expect }) => {
    const folder = await makeUsed();
    for (const name of folder.marks()) rmSync(join(folder.path, name));
    expect(folder.isRestored()).toBe(true);
  });

  test("all of the folder, elsewhere or in its place, with its dates", async ({ expect }) => {
    const folder = await makeUsed();
    const copy = join(tempDir(), "copy");
    cpSync(folder.path, copy, { recursive: true, preserveTimestamps: true });
    expect(isRestored(copy, folder.noted())).toBe(true);
    rmSync(folder.path, { recursive: true });
    cpSync(copy, folder.path, { recursive: true, preserveTimestamps: true });
    expect(folder.isRestored()).toBe(true);
  });

  test("all of the folder, over what is there", async ({ expect }) => {
    const folder = await makeUsed();
    const backup = folder.noted();
    const copy = join(tempDir(), "copy");
    cpSync(folder.path, copy, { recursive: true, preserveTimestamps: true });
    for (let i = 0; i < 2; i++) await folder.step();
    cpSync(copy, folder.path, { recursive: true, preserveTimestamps: true });
    folder.restoreNote(backup);
    expect(folder.isRestored()).toBe(true);
    expect(statSync(folder.path).isDirectory()).toBe(true);
  });
});
