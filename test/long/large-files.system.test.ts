// The short form of `large-files.ts`.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CLI } from "../e2e/server-process.ts";
import { tempDir } from "../temp-dir.ts";
import { syncLargeFiles } from "./large-files.suite.ts";

const MEGABYTE = 1024 * 1024;

// Memory of other processes is read from /proc.
test.skipIf(!existsSync("/proc/self/status"))(
  "six connectors with large files have no more than 900 MB together, and every file is indexed",
  async () => {
    const { peak, states, indexed } = await syncLargeFiles({
      program: CLI,
      dataDir: join(tempDir(), "data"),
      connectors: 6,
      files: 2,
      megabytes: 40,
      restMs: 0,
      mostMs: 240_000,
    });
    expect(states).toEqual(Array(6).fill("succeeded"));
    expect(indexed).toBe(12);
    // Somebody looked, and at the children too.
    expect(peak.tree).toBeGreaterThan(peak.server);
    expect(peak.tree).toBeLessThan(900 * MEGABYTE);
  },
  300_000,
);
