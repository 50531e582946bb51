import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, test } from "vitest";
import { isApiError } from "#api/errors.ts";
import { findSpawnEntry } from "#core/spawn.ts";

describe("findSpawnEntry", () => {
  let root = "";
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "kb-spawn-"));
    mkdirSync(join(root, "dist"));
    mkdirSync(join(root, "src", "server", "adapters"), { recursive: true });
    writeFileSync(join(root, "package.json"), "{}");
  });
  afterEach(() => rmSync(root, { recursive: true }));

  test("finds the same built file from a bundled chunk and from the sources", ({ expect }) => {
    const built = join(root, "dist", "extractor.js");
    writeFileSync(built, "");
    const fromChunk = pathToFileURL(join(root, "dist", "chunk-ABC.js")).href;
    const fromSource = pathToFileURL(join(root, "src", "server", "adapters", "spawn.ts")).href;
    expect(findSpawnEntry("extractor", fromChunk)).toBe(built);
    expect(findSpawnEntry("extractor", fromSource)).toBe(built);
  });

  test("names the missing file and the command that makes it", ({ expect }) => {
    let thrown: unknown;
    try {
      findSpawnEntry("writer", pathToFileURL(join(root, "dist", "cli.js")).href);
    } catch (error) {
      thrown = error;
    }
    expect(isApiError(thrown, "unavailable") && thrown.hint).toBe("npm run build");
    expect(isApiError(thrown) && thrown.message).toContain(join("dist", "writer.js"));
  });
});
