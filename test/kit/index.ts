import {
  access,
  accessChanges,
  groupsEnd,
  moved,
  namedReaders,
  peopleChanges,
  peopleEnd,
  readers,
} from "./access-checks.ts";
import {
  accountSwapped,
  anotherRun,
  changes,
  editDuringWalk,
  expiredCursor,
  renamed,
  resume,
  resumeLater,
  strangeCursor,
} from "./change-checks.ts";
import { oddEnd, oddRecord, oneAsked } from "./answer-checks.ts";
import type { SourceCheck } from "./check.ts";
import { content, contentVersion, strangeContent } from "./content-checks.ts";
import {
  elsewhere,
  hang,
  limited,
  oneContainer,
  oneItem,
  secrets,
  twoContainers,
  unauthorized,
  unreachable,
} from "./failure-checks.ts";
import { engine } from "./engine-checks.ts";
import type { KitFixture, MakeFixture } from "./fixture.ts";
import {
  abort,
  added,
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
import { oneAnswer } from "./one-answer-check.ts";
import { oneList } from "./one-list-check.ts";
import { subscription, webhook } from "./webhook-checks.ts";
import { failedThenKilled, goesDown, moveDuringWalk, opensAgain } from "./sequence-checks.ts";
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
  renamed,
  editDuringWalk,
  resume,
  resumeLater,
  anotherRun,
  expiredCursor,
  strangeCursor,
  abort,
  scope,
  inScope,
  added,
  items,
  browse,
  odd,
  content,
  strangeContent,
  contentVersion,
  access,
  readers,
  namedReaders,
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
  twoContainers,
  oneItem,
  oddRecord,
  oddEnd,
  oneAsked,
  oneAnswer,
  oneList,
  failedThenKilled,
  opensAgain,
  moveDuringWalk,
  goesDown,
  accountSwapped,
  webhook,
  subscription,
  secrets,
  elsewhere,
  engine,
];

/** One of the checks loads the server, which takes half a minute where others want the machine as well. */
export const CHECK_TIMEOUT = { timeout: 180_000 };

/** The outcome of one check. */
export interface CheckOutcome {
  id: string;
  title: string;
  faults: string[];
}

/** Runs one check on a fixture of its own; a throw is a fault. */
export async function runSourceCheck(check: SourceCheck, makeFixture: MakeFixture): Promise<CheckOutcome> {
  return runOn(await makeFixture(), check);
}

/**
 * Runs checks of one source: what `runSourceCheck` does, for less. Those that leave the remote as it was are run together on
 * one fixture when the first of them is asked for, so that the remote is made and read once; no remote is made for a check
 * that needs what the fixture can't do.
 */
export function makeCheckRunner(makeFixture: MakeFixture): (check: SourceCheck) => Promise<CheckOutcome> {
  let reading: Promise<{ outcomes: CheckOutcome[]; fixture: KitFixture }> | undefined;
  return async (check) => {
    reading ??= runReading(makeFixture);
    const { outcomes, fixture } = await reading;
    if (!check.isReading && check.needs !== undefined && fixture[check.needs] === undefined)
      return runOn(fixture, check);
    if (!check.isReading) return runSourceCheck(check, makeFixture);
    const outcome = outcomes.find(({ id }) => id === check.id);
    if (!outcome) throw new Error(`${check.id} is none of the checks.`);
    return outcome;
  };
}

async function runReading(makeFixture: MakeFixture): Promise<{ outcomes: CheckOutcome[]; fixture: KitFixture }> {
  const fixture = await makeFixture();
  const outcomes: CheckOutcome[] = [];
  for (const check of SOURCE_CHECKS) if (check.isReading) outcomes.push(await runOn(fixture, check));
  return { outcomes, fixture };
}

async function runOn(fixture: KitFixture, check: SourceCheck): Promise<CheckOutcome> {
  const { id, title } = check;
  try {
    return { id, title, faults: await check.run(fixture) };
  } catch (error) {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { id, title, faults: [`It threw: ${message}`] };
  }
}
