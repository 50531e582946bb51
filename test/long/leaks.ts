/**
 * The five-actor test over many worlds, until a million checks are made: `npx tsx test/long/leaks.ts [checks] [seed]`.
 * A check is one answer to one person, searched for every word that they may not know.
 */
import { startVitest } from "vitest/node";

const [checks = "1000000", seed = "1000"] = process.argv.slice(2);
const run = await startVitest("test", [], {
  config: false,
  watch: false,
  include: ["test/long/leaks.suite.ts"],
  testTimeout: 6 * 3_600_000,
  env: { KB_TEST_LEAK_CHECKS: checks, KB_TEST_LEAK_SEED: seed },
});
await run.close();
