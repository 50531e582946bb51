import { anotherRun, changes, editDuringWalk, resume, resumeLater } from "./change-checks.ts";
import {
  abort,
  access,
  badConfig,
  checkOk,
  configSchema,
  content,
  fullSync,
  idle,
  odd,
  repeatable,
  scope,
  urls,
  type SourceCheck,
} from "./checks.ts";
import type { MakeFixture } from "./fixture.ts";

/** What every source must pass that is read by runs; what each means stands with it. */
export const SOURCE_CHECKS: readonly SourceCheck[] = [
  configSchema,
  checkOk,
  badConfig,
  fullSync,
  access,
  urls,
  repeatable,
  idle,
  changes,
  editDuringWalk,
  resume,
  resumeLater,
  anotherRun,
  abort,
  scope,
  odd,
  content,
];

/** The outcome of one check. */
export interface CheckOutcome {
  id: string;
  title: string;
  faults: string[];
}

/** Runs one check on a fixture of its own; a throw is a fault. */
export async function runSourceCheck(check: SourceCheck, makeFixture: MakeFixture): Promise<CheckOutcome> {
  const fixture = await makeFixture();
  try {
    return { id: check.id, title: check.title, faults: await check.run(fixture) };
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { id: check.id, title: check.title, faults: [`It threw: ${message}`] };
  }
}

/** Runs every check, one after another. */
export async function runSourceKit(makeFixture: MakeFixture): Promise<CheckOutcome[]> {
  const outcomes: CheckOutcome[] = [];
  for (const check of SOURCE_CHECKS) outcomes.push(await runSourceCheck(check, makeFixture));
  return outcomes;
}
