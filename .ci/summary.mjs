// Closes a run: what was not run, and the counts of the test report. Exits 1 when a test or one of the other checks failed,
// or when a test was skipped though the program that it needs is there.
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

/** The tests that a program of the machine is needed for, by file and full title. */
const TESTS_OF = {
  browser: /^test\/e2e\/browser\./,
  keychain: /keeps the login there, survives a keychain that hangs/,
  gitea: /^test\/sources\/gitea\//,
  synapse: /^test\/sources\/matrix\/(kit|engine)/,
  python: /the Python package mcp|^test\/sources\/webdav\//,
};

const [file, otherFailure, ...tools] = process.argv.slice(2);
const report = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { numPassedTests: 0, numFailedTests: 1 };
const tests = (report.testResults ?? []).flatMap(({ name, assertionResults }) =>
  assertionResults.map(({ fullName, status }) => ({ title: `${relative(".", name)} > ${fullName}`, status })),
);
const skipped = tests.filter(({ status }) => status === "pending" || status === "skipped");
for (const { title } of skipped) process.stdout.write(`not run: ${title}\n`);

let notRun = 0;
for (const tool of tools) {
  const own = tests.filter(({ title }) => TESTS_OF[tool].test(title));
  const left = own.filter((each) => skipped.includes(each)).length;
  if (own.length > 0 && left === 0) continue;
  process.stdout.write(
    own.length === 0
      ? `${tool}: it is here, and no test needs it any more\n`
      : `${tool}: it is here, and ${left} of its tests were not run\n`,
  );
  notRun += Math.max(left, 1);
}
const failed = report.numFailedTests + notRun;
const others = otherFailure === "0" || failed > 0 ? 0 : 1;
process.stdout.write(`${report.numPassedTests} passed, ${failed + others} failed\n`);
process.exit(failed + others === 0 && report.numPassedTests > 0 ? 0 : 1);
