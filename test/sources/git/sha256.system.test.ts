import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CONNECTOR_ID, digestOf, git, itemsOf, loopbackGuard, makeReader, tempFolder } from "./fixture.ts";
import { makeBare, serveHttp } from "./http-remote.ts";

/** A repository whose ids have 64 digits. */
function makeWorkTree() {
  const base = tempFolder();
  const root = join(base, "repo");
  mkdirSync(join(root, "docs"), { recursive: true });
  git(root, "init", "--quiet", "--object-format=sha256");
  const commit = (files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
    git(root, "add", "--all");
    git(root, "commit", "--quiet", "-m", "change");
  };
  commit({ "README.md": "hello", "docs/guide.md": "guide" });
  return { base, root, commit };
}

describe("a repository with SHA-256 objects", () => {
  test.each([
    ["loose", []],
    ["in packs", ["gc", "--quiet"]],
  ] as const)("of this machine is read %s, then by what changed", async (_how, pack) => {
    const { base, root, commit } = makeWorkTree();
    if (pack.length > 0) git(root, ...pack, "--prune=now");
    const { run, source, context } = makeReader(base, root);
    const first = await run();
    expect(digestOf(first)).toEqual(["+README.md", "+docs/guide.md", "complete"]);
    expect(itemsOf(first)[0]).toMatchObject({ author: { name: "Ana Diaz" } });
    const { bytes } = (await source.fetchContent?.(context(), { externalId: "docs/guide.md" })) ?? {};
    expect(Buffer.from(bytes ?? []).toString()).toBe("guide");
    git(root, "mv", "docs/guide.md", "docs/handbook.md");
    commit({ "new.md": "new" });
    if (pack.length > 0) git(root, "pack-refs", "--all");
    expect(digestOf(await run(context({ commits: true }), { mode: "incremental" })).slice(0, 3)).toEqual([
      "docs/guide.md>docs/handbook.md",
      "+new.md",
      "-docs/guide.md",
    ]);
  });

  test("behind http is read whole, then by what changed", async () => {
    const { base, root, commit } = makeWorkTree();
    makeBare(root, join(base, "served.git"));
    const remote = await serveHttp(base);
    const { run } = makeReader(base, remote.url("served.git"), { guard: loopbackGuard() });
    expect(digestOf(await run())).toEqual(["+README.md", "+docs/guide.md", "complete"]);
    commit({ "new.md": "new" });
    git(root, "push", "--quiet", join(base, "served.git"), "HEAD");
    expect(digestOf(await run())).toEqual(["+new.md", "end"]);
    const config = readFileSync(join(base, "data", "git", CONNECTOR_ID, "mirror.git", "config"), "utf8");
    expect(config).toContain("objectformat = sha256");
  });

  test("can take the place of one with SHA-1 objects, and the other way round", async () => {
    const { base, root } = makeWorkTree();
    const { run } = makeReader(base, root);
    expect(digestOf(await run())).toEqual(["+README.md", "+docs/guide.md", "complete"]);
    git(base, "init", "--quiet", "other");
    writeFileSync(join(base, "other", "b.md"), "b");
    git(join(base, "other"), "add", "--all");
    git(join(base, "other"), "commit", "--quiet", "-m", "other");
    rmSync(join(root, ".git"), { recursive: true });
    renameSync(join(base, "other", ".git"), join(root, ".git"));
    expect(digestOf(await run())).toEqual(["+b.md", "complete"]);
  });
});
