import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { checkFolder, isInside, MANY_FILES, questionAbout, surveyFolder } from "#cli/quickstart/folder.ts";
import { tempDir } from "../../temp-dir.ts";
import { kb, makeWorld } from "../fakes.ts";

/** A home with documents, kb's own data and settings, and a link to each bad place. */
function home(): { deps: { cwd: string; home: string }; secretDirs: string[] } {
  const dir = realpathSync(tempDir());
  for (const path of ["docs/deep", "data/kb/db", "config/kb", "outer/inner"])
    mkdirSync(join(dir, path), { recursive: true });
  writeFileSync(join(dir, "file.txt"), "x");
  symlinkSync("/etc", join(dir, "to-etc"));
  symlinkSync(join(dir, "data"), join(dir, "to-data"));
  return { deps: { cwd: dir, home: dir }, secretDirs: [join(dir, "data/kb"), join(dir, "config/kb")] };
}

describe("which folder is indexed", () => {
  test.for(["docs", "./docs/deep", "docs/../docs", "outer"])("%s is", async (path, { expect }) => {
    const { deps, secretDirs } = home();
    expect(await checkFolder(path, deps, secretDirs)).toContain(deps.home);
  });

  test.for([
    ["/", "your home folder is inside it"],
    [".", "whole home folder"],
    ["/etc", "system folder"],
    ["/usr", "system folder"],
    ["/proc/self", "system folder"],
    ["/dev", "system folder"],
    ["to-etc", "system folder"],
    ["data", "kb keeps its own data"],
    ["to-data", "kb keeps its own data"],
    ["data/kb", "kb keeps its own data"],
    ["data/kb/db", "kb's own data"],
    ["config/kb", "kb keeps its own data"],
    ["missing", "does not exist"],
    ["file.txt", "not a folder"],
  ] as const)("%s is refused: %s", async ([path, why], { expect }) => {
    const { deps, secretDirs } = home();
    await expect(checkFolder(path, deps, secretDirs)).rejects.toThrow(why);
  });

  test("a parent of a data folder that does not exist yet is refused too", async ({ expect }) => {
    const { deps } = home();
    await expect(checkFolder("outer", deps, [join(deps.home, "outer/new/kb")])).rejects.toThrow(
      "kb keeps its own data",
    );
  });

  test("a name that only begins like the folder is not inside it", ({ expect }) => {
    expect([
      isInside("/a/bc", "/a/b"),
      isInside("/a/b/c", "/a/b"),
      isInside("/a/b", "/a/b"),
      isInside("/a/..b", "/a"),
    ]).toEqual([false, true, true, true]);
  });
});

describe("the look before indexing", () => {
  test("counts files that are not hidden and finds those of other users", async ({ expect }) => {
    const { deps } = home();
    for (const name of ["a.md", "b.md", ".hidden", "deep/c.md"]) writeFileSync(join(deps.home, "docs", name), "x");
    const own = await surveyFolder(join(deps.home, "docs"), process.getuid?.(), () => undefined);
    expect(own).toEqual({ files: 3, foreign: undefined });
    expect(questionAbout("docs", own)).toBeUndefined();
  });

  test("asks about many files and about those of other users", ({ expect }) => {
    expect(questionAbout("/d", { files: MANY_FILES + 1, foreign: "/d/x" })).toBe(
      "/d contains more than 50,000 files and files of other users (/d/x). Index it anyway?",
    );
  });
});

describe("quickstart before it starts anything", () => {
  test("refuses another host", async ({ expect }) => {
    const run = await kb(makeWorld({ env: { KB_HOST: "0.0.0.0" } }), "quickstart", "docs");
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("127.0.0.1 only")]);
  });

  test("leaves an installation alone that it did not make", async ({ expect }) => {
    const world = makeWorld({ env: {} });
    for (const path of ["docs", "data"]) mkdirSync(join(world.dir, path));
    writeFileSync(join(world.dir, "data/kb.db"), "theirs");
    const run = await kb(world, "quickstart", "docs", "--data-dir", "data");
    expect([run.code, run.stderr, run.sent]).toEqual([4, expect.stringContaining("did not create"), []]);
  });

  test("stop ends nothing that quickstart did not start", async ({ expect }) => {
    const world = makeWorld({ env: {} });
    mkdirSync(join(world.dir, "data"));
    const foreign = { pid: process.pid, url: "http://127.0.0.1:7700" };
    writeFileSync(join(world.dir, "data/server.json"), JSON.stringify(foreign));
    expect((await kb(world, "stop", "--data-dir", "data")).stderr).toContain("No server that quickstart started");
    const reused = { ...foreign, madeBy: "quickstart", startedTicks: "1" };
    writeFileSync(join(world.dir, "data/server.json"), JSON.stringify(reused));
    expect((await kb(world, "stop", "--data-dir", "data")).stderr).toContain("No server that quickstart started");
  });
});
