// Closes a run: what was not run, what is proven, and the counts of the reports of both suites. Exits 1 when something failed.
// Usage: npx tsx .ci/summary.mjs FAILED REPORT… -- TOOL…
import { existsSync, readFileSync } from "node:fs";
import { judge } from "../test/verdict.ts";

const [otherFailure, ...rest] = process.argv.slice(2);
const end = rest.indexOf("--");
const { lines, hasFailed } = judge(
  rest.slice(0, end).map((file) => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined)),
  {
    tools: rest.slice(end + 1),
    without: (process.env.KB_TEST_WITHOUT ?? "").split(" ").filter(Boolean),
    hasOtherFailure: otherFailure !== "0",
  },
);
process.stdout.write(lines.map((line) => `${line}\n`).join(""));
process.exit(hasFailed ? 1 : 0);
