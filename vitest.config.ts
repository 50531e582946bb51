import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { makeProofReporter } from "./test/proof.ts";

const outputFile = process.env.KB_TEST_REPORT;
const json: ["json", { outputFile: string }][] = outputFile ? [["json", { outputFile }]] : [];

const SYSTEM = "test/**/*.system.test.ts";

/** The longest files: one of them that starts last is waited for alone. */
const LONGEST = ["e2e/browser", "gitea/kit", "matrix/kit", "leaks/leaks", "kit/kit", "gitea/engine", "matrix/engine"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) =>
      (LONGEST.findIndex((name) => moduleId.includes(`/${name}.`)) + LONGEST.length + 1) % (LONGEST.length + 1);
    // The others as usual: by how long they took the last time, or by their size.
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

export default defineConfig({
  test: {
    // Hashing and process tests take five times as long on shared machines; a hang is caught all the same.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    pool: "forks",
    // One more than the cores have: browsers, children and clocks are waited for.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Transformed files are kept for the next run, by their content: a file alone costs a sixth less, a first run no more.
    experimental: { fsModuleCache: true, fsModuleCachePath: "node_modules/.cache/vitest-modules" },
    setupFiles: ["test/setup.ts"],
    // Modules do nothing when they are imported, so files may share them: half of the time went into imports.
    isolate: false,
    reporters: ["default", makeProofReporter(), ...json],
    projects: [
      // `npm test`: what runs in this process, against fakes and the file system.
      { extends: true, test: { name: "in-process", include: ["test/**/*.test.ts"], exclude: [SYSTEM] } },
      // `npm run test:system`: what starts another program or repeats a property for long.
      {
        extends: true,
        test: { name: "system", include: [SYSTEM], globalSetup: "test/package/global-setup.ts" },
      },
      // `npm run test:clients`: clients of other people, from their registries.
      {
        extends: true,
        test: { name: "clients", include: ["test/clients/*.clients.ts"], globalSetup: "test/package/global-setup.ts" },
      },
    ],
  },
});
