import { describe, test } from "vitest";
import type { Source } from "#sources/contract.ts";
import { openReaders, playReaders, readersBody } from "../own-readers.ts";
import { makeRepository } from "./fixture.ts";

describe("git in the server, with a real repository", { timeout: 240_000 }, () => {
  test("those whom it is shared with find what is there, at any time: first, after others read, and after 26 hours", async () => {
    const { root, source, write, commit, git } = makeRepository({ batching: { upserts: 2, seen: 3 } });
    for (const path of ["a.md", "b/1.txt", "b/2.txt", "b/c/3.txt", "z.txt"])
      write(path, `text of ${path}\n`.repeat(20));
    commit("First");
    const world = await openReaders({
      // Its configurations were parsed by its own schema.
      source: source as unknown as Source,
      connect: async ({ groupId }) => ({ body: { config: { url: root }, ...readersBody(groupId) } }),
      list: async () => git("ls-tree", "-r", "--name-only", "main").trim().split("\n"),
    });
    await playReaders(world, {
      act() {
        write("b/1.txt", "other words, as time went on");
        write("new/since.md");
        git("rm", "--quiet", "z.txt");
        git("mv", "b/c", "e");
        commit("Later");
      },
    });
  });
});
