import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { kb, makeWorld } from "./fakes.ts";

/** Each way to name a file, and what an absent one is called. */
const WAYS = [
  ["--credential", ["connectors", "add", "s3", "--credential", "token=@FILE"]],
  ["--config", ["connectors", "add", "s3", "--config", "FILE"]],
  ["--body", ["api", "POST", "/api/groups", "--body", "FILE"]],
  ["qrels", ["eval", "FILE"]],
] as const;

describe("a file that a person named", () => {
  test.for(WAYS)("is called by its name in %s, without a code of the system", async ([, argv], { expect }) => {
    const world = makeWorld();
    const absent = join(world.dir, "absent.txt");
    const folder = join(world.dir, "folder");
    mkdirSync(folder);
    const source = { providerId: "s3", name: "S3", available: true, authTypes: ["credentials"], configSchema: {} };
    world.routes = {
      "GET /api/connectors/sources": { body: { sources: [source] } },
      "GET /api/connectors": { body: { connectors: [], nextCursor: null } },
    };
    for (const [path, why] of [
      [absent, "there is no such file"],
      [folder, /it is a folder|is not a file/],
    ] as const) {
      const run = await kb(world, ...argv.map((word) => word.replace("FILE", path)));
      expect(run.stderr).toMatch(why);
      expect(run.stderr).toContain(path);
      expect([run.code, /ENOENT|EISDIR/.test(run.stderr)]).toEqual([2, false]);
    }
  });

  test("a server elsewhere that doesn't answer is not to be started here", async ({ expect }) => {
    const world = makeWorld({ env: {}, real: { fetch: () => Promise.reject(new TypeError("fetch failed")) } });
    const remote = await kb(world, "login", "https://kb.elsewhere.test");
    expect([remote.code, remote.stderr]).toEqual([
      7,
      expect.stringContaining("Check the address, or name another server"),
    ]);
    const local = await kb(world, "login", "http://127.0.0.1:7700");
    expect(local.stderr).toContain("Start it with kb serve");
  });
});
