import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loopbackGuard, makeReader, makeRepository, tempFolder } from "./fixture.ts";
import { makeBare, serveHttp } from "./http-remote.ts";

function makeFolders() {
  const repository = makeRepository();
  for (const path of ["README.md", "docs/guide.md", "docs/deep/a.md", "src/b.ts", "out/c.o", ".github/d.yml"]) {
    repository.write(path);
  }
  repository.write(".kbignore", "/out\n");
  repository.commit();
  repository.git("branch", "other");
  repository.write("docs/new.md");
  repository.commit();
  const browse = async (at: { parent: string | null; query?: string }, ref?: string) => {
    // Nobody is connected yet.
    const connector = { id: "", name: "" };
    const answer = await repository.source.browse?.(
      repository.context(ref === undefined ? {} : { ref }, { connector }),
      at,
    );
    return answer?.nodes.map(({ id, kind, expandable }) => [id, kind, expandable]);
  };
  return { ...repository, browse };
}

describe("browsing a repository before it is connected", () => {
  test("shows the folders and files that a run would take, a folder at a time", async () => {
    const { browse, base } = makeFolders();
    expect(await browse({ parent: null })).toEqual([
      [".github", "folder", true],
      [".kbignore", "file", false],
      ["README.md", "file", false],
      ["docs", "folder", true],
      ["src", "folder", true],
    ]);
    expect(await browse({ parent: "docs" })).toEqual([
      ["docs/deep", "folder", true],
      ["docs/guide.md", "file", false],
      ["docs/new.md", "file", false],
    ]);
    expect(await browse({ parent: "docs", query: "GUI" })).toEqual([["docs/guide.md", "file", false]]);
    expect((await browse({ parent: "docs" }, "other"))?.length).toBe(2);
    // Nothing of it stays.
    expect(readdirSync(join(base, "data", "git")).filter((name) => name.startsWith("con_"))).toEqual([]);
  });

  test.each(["nowhere", "README.md/x", "../x", "/etc", "docs/", ".git", "-x", "--output=x", ":(glob)*"])(
    "with the parent %j is refused",
    async (parent) => {
      const { browse } = makeFolders();
      await expect(browse({ parent })).rejects.toThrow(expect.objectContaining({ code: "source_not_found" }));
    },
  );

  test("of a remote one brings no files", async () => {
    const { root } = makeFolders();
    const base = tempFolder();
    mkdirSync(join(base, "work"));
    cpSync(root, join(base, "work"), { recursive: true });
    makeBare(join(base, "work"), join(base, "served.git"));
    const remote = await serveHttp(base);
    const { source, context } = makeReader(base, remote.url("served.git"), { guard: loopbackGuard() });
    const connector = { id: "", name: "" };
    const { nodes } = (await source.browse?.(context({}, { connector }), { parent: null })) ?? {};
    expect(nodes?.map(({ id }) => id)).toEqual([".github", ".kbignore", "README.md", "docs", "src"]);
  });
});
