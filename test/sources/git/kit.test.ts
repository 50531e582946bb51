import { expect, test } from "vitest";
import { authorityOf } from "#core/principals.ts";
import type { KitFixture } from "../../kit/fixture.ts";
import { runSourceCheck, SOURCE_CHECKS } from "../../kit/index.ts";
import { CONNECTOR_ID, makeRepository } from "./fixture.ts";
import { oddNames } from "../odd-names.ts";

async function makeGitFixture(): Promise<KitFixture> {
  const repository = makeRepository({ batching: { upserts: 2, seen: 3 } });
  const { root, write, commit, source } = repository;
  for (const path of ["a.md", "b/1.txt", "b/2.txt", "b/c/3.md", "d.md", "e/4.md", "z.txt"]) write(path);
  commit("First");
  let count = 0;
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
    authority: authorityOf({ connectorId: CONNECTOR_ID, providerId: "git", named: ["workspace"] }),
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
    addOdd: async () => {
      const names = oddNames(200);
      for (const name of names) write(`odd/${name}`, "text");
      commit("Odd");
      return names.map((name) => `odd/${name}`);
    },
  };
}

test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", async (_title, check) => {
  expect((await runSourceCheck(check, makeGitFixture)).faults).toEqual([]);
});
