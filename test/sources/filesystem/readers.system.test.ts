import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import type { Source } from "#sources/contract.ts";
import { openReaders, playReaders, readersBody } from "../own-readers.ts";
import { makeFolder } from "./fixture.ts";

describe("filesystem in the server, with a real folder", { timeout: 240_000 }, () => {
  test("those whom it is shared with find what is there, at any time: first, after others read, and after 26 hours", async () => {
    const { root, source, write } = makeFolder({ batching: { upserts: 2, seen: 3 } });
    for (const path of ["a.md", "b/1.txt", "b/2.txt", "b/c/3.txt", "ü.md", "z.txt"]) write(path, `text of ${path}`);
    const world = await openReaders({
      // Its configurations were parsed by its own schema.
      source: source as unknown as Source,
      connect: async ({ groupId }) => ({ body: { config: { root, watch: false }, ...readersBody(groupId) } }),
      list: async () =>
        readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => statSync(join(root, path)).isFile()),
    });
    await playReaders(world, {
      act() {
        write("b/1.txt", "other words, as time went on");
        write("new/since.md");
        rmSync(join(root, "z.txt"));
        renameSync(join(root, "b/c"), join(root, "e"));
        if (existsSync(join(root, "b/c"))) throw new Error("It was not moved.");
      },
    });
  });
});
