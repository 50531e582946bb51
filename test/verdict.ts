import { relative } from "node:path";
import { weigh } from "./proof.ts";

/** What is read of a report that Vitest writes as JSON. */
export interface TestReport {
  numPassedTests: number;
  numFailedTests: number;
  testResults: {
    name: string;
    /** Why the file itself failed, as when it can't be loaded. */
    message?: string;
    assertionResults: {
      fullName: string;
      status: string;
      failureMessages?: readonly string[];
      meta?: { requirements?: readonly string[] };
    }[];
  }[];
}

interface Around {
  /** The programs of the machine that are here. */
  tools: readonly string[];
  /** Those that could not be installed: what needs them can't be proven. */
  without: readonly string[];
  /** Something else than a test failed. */
  hasOtherFailure: boolean;
}

/** The message, and where it came from: so that the end of a log alone is enough. */
const LINES_OF_A_FAILURE = 12;

/** The tests that a program of the machine is needed for, by file and full title. */
const TESTS_OF: Readonly<Record<string, RegExp>> = {
  browser: /^test\/e2e\/(browser|events)\./,
  keychain: /keeps the login there, survives a keychain that hangs/,
  gitea: /^test\/(sources\/gitea\/|server\/accounts\/gitea\.)/,
  dovecot: /^test\/sources\/imap\/dovecot\./,
  synapse: /^test\/(sources\/matrix\/(kit|engine)|server\/accounts\/matrix)\./,
  python: /the Python package mcp|^test\/sources\/(webdav\/(kit|engine)|s3\/moto)\./,
};

/**
 * Judges both suites together: what was not run, what failed and with which words, which requirements are proven, and how
 * many tests passed and failed. A suite without report has failed, and so have a test that was skipped though its program is here and a requirement of a
 * finished step that neither suite has proven though all programs are.
 */
export function judge(reports: readonly (TestReport | undefined)[], { tools, without, hasOtherFailure }: Around) {
  const files = reports.flatMap((report) => report?.testResults ?? []);
  const tests = files.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status, failureMessages, meta }) => ({
      title: `${relative(".", name)} > ${fullName}`,
      status,
      why: failureMessages?.[0] ?? "",
      proves: meta?.requirements ?? [],
    })),
  );
  const sum = (count: (report: TestReport) => number) =>
    reports.reduce((total, report) => total + (report ? count(report) : 0), 0);
  const isSkipped = ({ status }: { status: string }) => status === "pending" || status === "skipped";
  const lines = tests.filter(isSkipped).map(({ title }) => `not run: ${title}`);
  const failures = [
    ...tests.filter(({ status }) => status === "failed"),
    ...files
      .filter(({ message }) => message)
      .map(({ name, message = "" }) => ({ title: relative(".", name), why: message })),
  ];
  for (const { title, why } of failures)
    lines.push(`failed: ${title}`, ...why.split("\n", LINES_OF_A_FAILURE).map((line) => `    ${line}`));

  let failed = sum(({ numFailedTests }) => numFailedTests) + reports.filter((report) => report === undefined).length;
  for (const tool of tools) {
    const own = tests.filter(({ title }) => TESTS_OF[tool]?.test(title));
    const left = own.filter(isSkipped).length;
    if (own.length > 0 && left === 0) continue;
    failed += Math.max(left, 1);
    const what = own.length === 0 ? "no test needs it any more" : `${left} of its tests were not run`;
    lines.push(`${tool}: it is here, and ${what}`);
  }

  const passed = tests.filter(({ status }) => status === "passed");
  const { counts, overdue } = weigh(new Set(passed.flatMap(({ proves }) => proves)));
  lines.push(`requirements: ${counts}`);
  for (const id of overdue) lines.push(`not proven: ${id}: its test failed or was skipped`);
  if (without.length === 0) failed += overdue.length;

  const count = sum(({ numPassedTests }) => numPassedTests);
  if (failed === 0 && (hasOtherFailure || count === 0)) failed = 1;
  lines.push(`${count} passed, ${failed} failed`);
  return { lines, hasFailed: failed > 0 };
}
