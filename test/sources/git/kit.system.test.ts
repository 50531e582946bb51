import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { KitFixture } from "../../kit/fixture.ts";
import { CHECK_TIMEOUT, makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { git, makeRepository } from "./fixture.ts";
import { oddNames } from "../odd-names.ts";

/** The repository that each check gets a copy of. */
let original = "";
beforeAll(() => {
  const folder = (original = mkdtempSync(join(tmpdir(), "kb-git-")));
  git(folder, "init", "--quiet", "--template=");
  for (const path of ["a.md", "b/1.txt", "b/2.txt", "b/c/3.md", "d.md", "e/4.md", "z.txt"]) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), path);
  }
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "-m", "First");
  return () => rmSync(folder, { recursive: true, force: true });
});

async function makeGitFixture(): Promise<KitFixture> {
  const repository = makeRepository({ batching: { upserts: 2, seen: 3 } }, original);
  const { root, write, commit, source } = repository;
  let count = 0;
  let renamed = "e/4.md";
  const { config, connector, now } = repository.context();
  return {
    // The kit calls it with configurations that its own schema has parsed.
    source: source as KitFixture["source"],
    config,
    badConfigs: [
      {},
      { url: "" },
      { url: "relative/path" },
      { url: "ext::sh -c true" },
      { url: root, depth: 1 },
      { ...config, url: "/etc" },
      { ...config, ref: "no-such-branch" },
    ],
    context: { connector, now },
    minItems: 7,
    narrowerScope: { include: [], exclude: ["b"] },
    add: async () => {
      write(`c/new-${++count}.md`);
      commit("Add");
      return `c/new-${count}.md`;
    },
    edit: async () => {
      write("d.md", `edited ${"x".repeat(++count)}`);
      commit("Edit");
      return "d.md";
    },
    remove: async () => {
      repository.git("rm", "--quiet", "b/2.txt");
      commit("Remove");
      return "b/2.txt";
    },
    async renameItem() {
      const [from, to] = [renamed, `e/renamed-${++count}.md`];
      repository.git("mv", from, to);
      commit("Rename");
      renamed = to;
      return { from, to };
    },
    async fail(kind) {
      if (kind !== "unreachable") return undefined;
      renameSync(root, `${root}.away`);
      return { externalIds: [], heal: () => renameSync(`${root}.away`, root) };
    },
    addOdd: async () => {
      const names = oddNames(200);
      for (const name of names) write(`odd/${name}`, "text");
      commit("Odd");
      return names.map((name) => `odd/${name}`);
    },
  };
}

const run = makeCheckRunner(makeGitFixture);

test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", CHECK_TIMEOUT, async (_title, check) => {
  expect((await run(check)).faults).toEqual([]);
});
