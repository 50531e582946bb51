import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
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
export function makeProofReporter(env: NodeJS.ProcessEnv = process.env): Reporter {
  return {
    onTestRunEnd(modules) {
      if (!isWholeRun(modules)) return;
      const { counts, overdue } = weigh(provenBy(modules));
      process.stdout.write(`requirements: ${counts}\n`);
      for (const id of overdue) process.stdout.write(`not proven: ${id}: its test failed or was skipped\n`);
      if (overdue.length > 0 && env["CI"] !== undefined && !env["KB_TEST_WITHOUT"]) process.exitCode = 1;
    },
  };
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
function provenBy(modules: readonly TestModule[]): Set<string> {
  const tests = modules.flatMap((module) => [...module.children.allTests("passed")]);
  return new Set(tests.flatMap((test) => test.meta().requirements ?? []));
}

function isWholeRun(modules: readonly TestModule[]): boolean {
  const ran = new Set(modules.map(({ moduleId }) => relative(folder, moduleId)));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".test.ts"));
  return files.every((name) => ran.has(join(name)));
}
