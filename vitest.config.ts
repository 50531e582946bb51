import { defineConfig } from "vitest/config";
import { makeProofReporter } from "./test/proof.ts";

const outputFile = process.env.KB_TEST_REPORT;
const json: ["json", { outputFile: string }][] = outputFile ? [["json", { outputFile }]] : [];

/**
 * Whole programs, children that are killed, browsers, and suites that plant faults or start many children: apart from the
 * others, since forking a process that has grown large takes several times as long.
 */
const WITH_CHILDREN = [
  "test/{e2e,long}/**/*.test.ts",
  "test/bridge/{login,process}.test.ts",
  "test/extract/{extract,fuzz,pool}.test.ts",
  "test/sources/git/!(parse).test.ts",
  "test/server/sync/kill/kill.test.ts",
  "test/readme.test.ts",
];

export default defineConfig({
  test: {
    // Hashing and process tests take five times as long on shared machines; a hang is caught all the same.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    pool: "forks",
    // One more than the cores have: browsers, children and clocks are waited for.
    maxWorkers: 3,
    // Transformed files are kept for the next run, by their content: a file alone costs a sixth less, a first run no more.
    experimental: { fsModuleCache: true, fsModuleCachePath: "node_modules/.cache/vitest-modules" },
    setupFiles: ["test/setup.ts"],
    reporters: ["default", makeProofReporter(), ...json],
    projects: [
      // Modules do nothing when they are imported, so files may share them: half of the time went into imports.
      { extends: true, test: { name: "children", include: WITH_CHILDREN, isolate: false } },
      {
        extends: true,
        test: { name: "shared", include: ["test/**/*.test.ts"], exclude: WITH_CHILDREN, isolate: false },
      },
    ],
  },
});
