import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { analyzeDocument } from "#text/analyzer.ts";
import { makeExtractor } from "#extract/pool.ts";
import type { Extractor } from "#extract/extractor.ts";
import { buildChildren } from "./build-child.ts";
import { fuzzExtractor, tryHostileFiles } from "./fuzz.ts";

/** Tries so many mutated files, and all those made to hurt if `hasHostile`. The long run: `test/long/extract-fuzz.ts`. */
export function describeFuzz({ count, hasHostile }: { count: number; hasHostile: boolean }): void {
  let folder = "";
  let pool: Extractor;

  beforeAll(async () => {
    folder = await buildChildren(`fuzz-${process.pid}`, { extractor: "src/extract/child.ts" });
    const quiet = () => undefined;
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    pool = makeExtractor({
      childPath: join(folder, "extractor.js"),
      now: () => performance.now(),
      analyze: analyzeDocument,
      log,
    });
  });
  afterAll(async () => {
    await pool.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("mutated files crash, hang and bloat no child", async ({ expect }) => {
    const report = await fuzzExtractor(pool, { from: 1, count });
    expect(report.deaths).toEqual([]);
    expect(report.files).toBe(count);
    expect(report.answers["ok"]).toBeGreaterThan(count / 4);
    expect(report.maxRssBytes).toBeLessThan(600 * 1_048_576);
  });

  if (hasHostile)
    test(
      "files made to unfold, inflate or recurse kill no child and fill no memory",
      { timeout: 120_000 },
      async ({ expect }) => {
        const report = await tryHostileFiles(pool);
        expect(report.deaths).toEqual([]);
        expect(report.maxRssBytes).toBeLessThan(900 * 1_048_576);
      },
    );
}
