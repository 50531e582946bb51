import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Reporter } from "vitest/node";
import { FINISHED_STEPS, REQUIREMENTS } from "./requirements.ts";

declare module "vitest" {
  interface TaskMeta {
    /** What the test proves once it has passed. */
    requirements?: readonly string[];
  }
}

const folder = import.meta.dirname;

/** What ends the name of a test file of the system suite. */
const SYSTEM = ".system.test.ts";

/**
 * Says, after a run of a whole suite, which requirements its tests have proven, and how many have their tests in the other
 * one. It fails nothing: whether both suites together prove all that they should, `verdict.ts` judges.
 */
export function makeProofReporter(say = (line: string) => void process.stdout.write(`${line}\n`)) {
  let isSelection = false;
  return {
    onInit: ({ config }: { config: { testNamePattern?: RegExp } }) =>
      void (isSelection = config.testNamePattern !== undefined),
    onTestRunEnd(modules: readonly RanModule[]) {
      const ran = wholeSuites(modules);
      if (isSelection || ran.length === 0) return;
      const proven = provenBy(modules);
      const { counts, overdue } = weigh(proven);
      const elsewhere = new Set(verifyingCalls((file) => !ran.includes(suiteOf(file))).flatMap(({ ids }) => ids));
      const left = overdue.filter((id) => elsewhere.has(id)).length;
      say(`requirements: ${counts}${left > 0 ? `, ${left} of the open ones have their tests in the other suite` : ""}`);
      for (const id of overdue) if (!elsewhere.has(id)) say(`not proven: ${id}: its test failed or was skipped`);
    },
  } satisfies Reporter;
}

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

/** The ids in the first argument of each `verifies(…)` call of the files that are wanted. */
export function verifyingCalls(isWanted = (_file: string) => true): { file: string; ids: string[] }[] {
  const calls: { file: string; ids: string[] }[] = [];
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!/\.(?:test|suite|contract)\.ts$/.test(file) || !isWanted(file)) continue;
    const source = readFileSync(join(folder, file), "utf8");
    for (const call of source.matchAll(/\bverifies\(\s*(\[[^\]]*\]|"[^"]*")/g)) {
      calls.push({ file, ids: [...(call[1] ?? "").matchAll(/"([^"]+)"/g)].map((id) => id[1] ?? "") });
    }
  }
  return calls;
}

/** The ids of tests that ran and passed. */
function provenBy(modules: readonly RanModule[]): Set<string> {
  const tests = modules.flatMap((module) => [...module.children.allTests("passed")]);
  return new Set(tests.flatMap((test) => test.meta().requirements ?? []));
}

type Suite = "in-process" | "system" | "either";

/** The suite of a file; what several test files may share (`.suite.ts`) belongs to either. */
function suiteOf(file: string): Suite {
  if (file.endsWith(SYSTEM)) return "system";
  return file.endsWith(".test.ts") ? "in-process" : "either";
}

/** The suites of which every file was run. */
function wholeSuites(modules: readonly RanModule[]): Suite[] {
  const ran = new Set(modules.map(({ moduleId }) => relative(folder, moduleId)));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return (["in-process", "system"] as const).filter((suite) =>
    files.every((file) => suiteOf(file) !== suite || ran.has(file)),
  );
}
