/**
 * Long fuzz run over text extraction: `npx tsx test/long/extract-fuzz.ts [files] [first seed]`. Ends with 1 when a file
 * killed or hung a child, a child grew over its cap, or one of 1,000 files came back as another's. Any file of the report is made again from its seed.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { analyzeDocument } from "#text/analyzer.ts";
import { DEFAULT_EXTRACT_LIMITS } from "#extract/limits.ts";
import { makeExtractor, type ExtractorOptions } from "#extract/pool.ts";
import { buildChildren } from "../extract/build-child.ts";
import { findMisdelivered, fuzzExtractor, tryHostileFiles } from "../extract/fuzz.ts";

const [count = "20000", from = "1"] = process.argv.slice(2);
const folder = await buildChildren(`long-${process.pid}`, { extractor: "src/extract/child.ts" });
const say = (fields: Record<string, unknown>, message: string) =>
  void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
const options: ExtractorOptions = {
  childPath: join(folder, "extractor.js"),
  now: () => performance.now(),
  analyze: analyzeDocument,
  log: { debug: say, info: say, warn: say, error: say },
};
const pool = makeExtractor(options);
try {
  const small = makeExtractor({ ...options, limits: { recycleAfterTextFiles: 60 } });
  const misdelivered = await findMisdelivered(small, 1_000).finally(() => small.close());
  process.stdout.write(`${JSON.stringify({ misdelivered })}\n`);
  const hostile = await tryHostileFiles(pool);
  process.stdout.write(`${JSON.stringify({ hostile }, undefined, 2)}\n`);
  const report = await fuzzExtractor(pool, { from: Number(from), count: Number(count) });
  process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
  process.exitCode =
    misdelivered.length + hostile.deaths.length + report.deaths.length > 0 ||
    report.maxRssBytes > DEFAULT_EXTRACT_LIMITS.maxRssBytes
      ? 1
      : 0;
} finally {
  await pool.close();
  rmSync(folder, { recursive: true, force: true });
}
