import { describe, expect, test } from "vitest";
import { digestOf, makeRepository } from "./fixture.ts";

describe("a .kbignore at the root of a repository", () => {
  test("leaves out what it names, in the syntax of .gitignore; .gitignore itself says nothing here", async () => {
    const { write, commit, run } = makeRepository();
    for (const path of ["a.md", "build/out.md", "docs/draft.md", "docs/keep.md", "docs/x.log", "deep/build/y.md"])
      write(path);
    write(".gitignore", "nothing-here\n");
    write(".kbignore", "# ours\n/build\ndocs/*\n!docs/keep.md\n*.log\n");
    commit();
    expect(digestOf(await run()).sort()).toEqual([
      "!build: excluded_by_scope",
      "!docs/draft.md: excluded_by_scope",
      "!docs/x.log: excluded_by_scope",
      "+.gitignore",
      "+.kbignore",
      "+a.md",
      "+deep/build/y.md",
      "+docs/keep.md",
      "complete",
    ]);
  });

  test("that changes is heeded for files that did not", async () => {
    const { write, commit, run, versions } = makeRepository();
    write("a.md");
    write("b.md");
    commit();
    await run();
    write(".kbignore", "a.md\n");
    commit();
    expect(digestOf(await run())).toEqual(["!a.md: excluded_by_scope", "+.kbignore", "=b.md", "complete"]);
    // The engine sweeps what a complete listing did not name.
    versions.delete("a.md");
    write(".kbignore", "b.md\n");
    commit();
    expect(digestOf(await run()).sort()).toEqual(["!b.md: excluded_by_scope", "+.kbignore", "+a.md", "complete"]);
  });

  test("that can't be taken, or is too large, is said", async () => {
    const { write, commit, run } = makeRepository();
    write("a.md");
    write(".kbignore", `${"a/**/**/**/b\n".repeat(2)}a.md\n`);
    commit();
    expect(digestOf(await run())).toEqual([
      "!.kbignore: excluded_by_policy",
      "!a.md: excluded_by_scope",
      "+.kbignore",
      "complete",
    ]);
    write(".kbignore", `a.md\n${"#".repeat(70_000)}\n`);
    commit();
    expect(digestOf(await run())).toContain("+a.md");
  });
});
