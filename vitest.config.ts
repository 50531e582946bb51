import { defineConfig } from "vitest/config";

const report = process.env.KB_TEST_REPORT;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Hashing and process tests are slow on shared machines; a hang is caught all the same.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
    setupFiles: ["test/setup.ts"],
    reporters: report ? ["default", ["json", { outputFile: report }]] : ["default"],
  },
});
