import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BROWSE_PAGE } from "#sources/file-scope/browse-page.ts";
import { makeFolder } from "./fixture.ts";

test("browsing shows the folders that a sync would enter and the files that it would take, level by level", async () => {
  const folder = makeFolder();
  for (const rel of ["docs/guides/a.md", "docs/b.md", "a.md", "id_rsa", ".hidden/x.md", ".git/config", "ignored/x.md"])
    folder.write(rel);
  folder.write(".gitignore", "ignored/\n");
  symlinkSync(folder.base, join(folder.root, "up"));
  expect(await folder.source.browse?.(folder.context(), { parent: null })).toEqual({
    nodes: [
      { id: "a.md", parent: null, title: "a.md", kind: "file", selectable: true, expandable: false },
      { id: "docs", parent: null, title: "docs", kind: "folder", selectable: true, expandable: true },
    ],
    nextCursor: null,
  });
  const below = await folder.source.browse?.(folder.context(), { parent: "docs" });
  expect(below?.nodes.map((node) => [node.id, node.parent])).toEqual([
    ["docs/b.md", "docs"],
    ["docs/guides", "docs"],
  ]);
});

test("a parent that climbs, is a link, hidden, a file or encoded is not found", async () => {
  const folder = makeFolder();
  folder.write("docs/b.md");
  folder.write(".git/refs/x");
  symlinkSync(folder.base, join(folder.root, "up"));
  for (const parent of [
    "../..",
    "..",
    "..%2f",
    "docs/../..",
    "/",
    "/etc",
    "up",
    ".git",
    ".git/refs",
    "docs/b.md",
    "none",
  ]) {
    await expect(folder.source.browse?.(folder.context(), { parent }), parent).rejects.toMatchObject({
      code: "source_not_found",
    });
  }
});

test("long levels are paged, and a query narrows by name", async () => {
  const folder = makeFolder();
  for (let i = 0; i < BROWSE_PAGE + 5; i++) folder.write(`folder-${String(i).padStart(3, "0")}/a`);
  const first = await folder.source.browse?.(folder.context(), { parent: null });
  expect(first?.nodes).toHaveLength(BROWSE_PAGE);
  const rest = await folder.source.browse?.(folder.context(), { parent: null, cursor: first?.nextCursor ?? "" });
  expect(rest?.nodes.map((node) => node.id)).toEqual(["200", "201", "202", "203", "204"].map((n) => `folder-${n}`));
  expect(rest?.nextCursor).toBeNull();
  const named = await folder.source.browse?.(folder.context(), { parent: null, query: "ER-20" });
  expect(named?.nodes).toHaveLength(5);
});
