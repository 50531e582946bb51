import { access, accessChanges, groupsEnd, moved, peopleChanges, peopleEnd, readers } from "./access-checks.ts";
import {
  anotherRun,
  changes,
  editDuringWalk,
  expiredCursor,
  resume,
  resumeLater,
  strangeCursor,
} from "./change-checks.ts";
import type { SourceCheck } from "./check.ts";
import { content, contentVersion, strangeContent } from "./content-checks.ts";
import {
  elsewhere,
  hang,
  limited,
  oneContainer,
  oneItem,
  secrets,
  unauthorized,
  unreachable,
} from "./failure-checks.ts";
import { engine } from "./engine-checks.ts";
import type { MakeFixture } from "./fixture.ts";
import {
  abort,
  browse,
  fullSync,
  idle,
  inScope,
  items,
  odd,
  progress,
  repeatable,
  scope,
  urls,
} from "./listing-checks.ts";
import { badConfig, checkOk, configSchema, credentials, fixtureGives } from "./spec-checks.ts";

/** What every source must pass that is read by runs; what each means stands with it. */
export const SOURCE_CHECKS: readonly SourceCheck[] = [
  fixtureGives,
  configSchema,
  credentials,
  checkOk,
  badConfig,
  fullSync,
  progress,
  urls,
  repeatable,
  idle,
  changes,
  editDuringWalk,
  resume,
  resumeLater,
  anotherRun,
  expiredCursor,
  strangeCursor,
  abort,
  scope,
  inScope,
  items,
  browse,
  odd,
  content,
  strangeContent,
  contentVersion,
  access,
  readers,
  accessChanges,
  moved,
  peopleEnd,
  groupsEnd,
  peopleChanges,
  unreachable,
  unauthorized,
  limited,
  hang,
  oneContainer,
  oneItem,
  secrets,
  elsewhere,
  engine,
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
