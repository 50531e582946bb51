import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { KitFixture } from "../../kit/fixture.ts";
import { CHECK_TIMEOUT, makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { makeFolder } from "./fixture.ts";
import { oddNames } from "../odd-names.ts";

async function makeFilesystemFixture(): Promise<KitFixture> {
  const folder = makeFolder({ batching: { upserts: 2, seen: 3 } });
  for (const rel of ["a.md", "b/1.txt", "b/2.txt", "b/c/3.md", "d.md", "e/4.md", "z.txt"]) folder.write(rel);
  let count = 0;
  let renamed = "e/4.md";
  const { config, connector, now } = folder.context();
  return {
    source: folder.source,
    config,
    badConfigs: [
      {},
      { root: "" },
      { root: folder.root, depth: 1 },
      { ...config, root: "relative" },
      { ...config, root: "/etc" },
    ],
    context: { connector, now },
    minItems: 7,
    narrowerScope: { include: [], exclude: ["b"] },
    add: async () => {
      folder.write(`c/new-${++count}.md`);
      return `c/new-${count}.md`;
    },
    edit: async () => {
      writeFileSync(join(folder.root, "d.md"), `edited ${"x".repeat(++count)}`);
      return "d.md";
    },
    remove: async () => {
      rmSync(join(folder.root, "b/2.txt"));
      return "b/2.txt";
    },
    async renameItem() {
      const [from, to] = [renamed, `e/renamed-${++count}.md`];
      renameSync(join(folder.root, from), join(folder.root, to));
      renamed = to;
      return { from, to };
    },
    async fail(kind) {
      if (kind !== "unreachable") return undefined;
      // As a volume that is not mounted.
      renameSync(folder.root, `${folder.root}.away`);
      return { externalIds: [], heal: () => renameSync(`${folder.root}.away`, folder.root) };
    },
    addOdd: async () => {
      const names = oddNames(250);
      for (const name of names) folder.write(`odd/${name}`, "text");
      return names.map((name) => `odd/${name}`);
    },
  };
}

const run = makeCheckRunner(makeFilesystemFixture);

test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", CHECK_TIMEOUT, async (_title, check) => {
  expect((await run(check)).faults).toEqual([]);
});
