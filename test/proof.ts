import { readdirSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter } from "vitest/node";
import { FINISHED_STEPS, REQUIREMENTS } from "./requirements.ts";

declare module "vitest" {
  interface TaskMeta {
    /** What the test proves once it has passed. */
    requirements?: readonly string[];
  }
}

const folder = import.meta.dirname;

/**
 * Counts, after a run of every test file, the requirements that a test has proven: one whose only test was skipped is
 * open. On a build machine an open one of a finished step fails the run, unless it says by `KB_TEST_WITHOUT` that it
 * can't have what a test needs.
 */
export function makeProofReporter({ env, say, fail }: ProofOptions = ON_PROCESS) {
  let isSelection = false;
  return {
    onInit: ({ config }: { config: { testNamePattern?: RegExp } }) =>
      void (isSelection = config.testNamePattern !== undefined),
    onTestRunEnd(modules: readonly RanModule[]) {
      if (isSelection || !isWholeRun(modules)) return;
      const { counts, overdue } = weigh(provenBy(modules));
      say(`requirements: ${counts}`);
      for (const id of overdue) say(`not proven: ${id}: its test failed or was skipped`);
      if (overdue.length > 0 && env["CI"] !== undefined && !env["KB_TEST_WITHOUT"]) fail();
    },
  } satisfies Reporter;
}

interface ProofOptions {
  env: Readonly<Record<string, string | undefined>>;
  say(line: string): void;
  /** Makes the run end with a failure. */
  fail(): void;
}

const ON_PROCESS: ProofOptions = {
  env: process.env,
  say: (line) => void process.stdout.write(`${line}\n`),
  fail: () => void (process.exitCode = 1),
};

/** What is looked at of a test file that was run. */
export interface RanModule {
  moduleId: string;
  children: { allTests(state: "passed"): Iterable<{ meta(): { requirements?: readonly string[] } }> };
}

/** How many requirements are proven, in words, and which of the finished steps are not. */
export function weigh(proven: ReadonlySet<string>): { counts: string; overdue: string[] } {
  const all = Object.entries(REQUIREMENTS);
  const open = all.filter(([id]) => !proven.has(id));
  const overdue = open.filter(([, { step }]) => step <= FINISHED_STEPS).map(([id]) => id);
  const later = open.length - overdue.length;
  const counts = `${all.length} in all, ${all.length - open.length} proven, ${open.length} open (${later} in later steps)`;
  return { counts, overdue };
}

/** The ids of tests that ran and passed. */
function provenBy(modules: readonly RanModule[]): Set<string> {
  const tests = modules.flatMap((module) => [...module.children.allTests("passed")]);
  return new Set(tests.flatMap((test) => test.meta().requirements ?? []));
}

function isWholeRun(modules: readonly RanModule[]): boolean {
  const ran = new Set(modules.map(({ moduleId }) => relative(folder, moduleId)));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".test.ts"));
  return files.every((name) => ran.has(name));
}
