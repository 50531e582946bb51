import { describe, expect, test } from "vitest";
import { FAULTS, makeFaultyFixture } from "./faults/index.ts";
import { toldInSync } from "./faults/plant.ts";
import { CHECK_TIMEOUT, makeCheckRunner, runSourceCheck, SOURCE_CHECKS } from "./index.ts";
import { makeReferenceFixture } from "./reference/fixture.ts";
import type { KitFixture } from "./fixture.ts";

const run = makeCheckRunner(async () => (await makeReferenceFixture()).fixture as KitFixture);

/** The check in the server itself plays days of a source: `engine.system.test.ts`. */
const CHECKS = SOURCE_CHECKS.filter(({ id }) => id !== "engine");
const PLANTED = Object.entries(FAULTS).filter(([, { caughtBy }]) => caughtBy !== "engine");

test.each(CHECKS.map((check) => [check.id, check] as const))(
  "the reference source passes %s",
  CHECK_TIMEOUT,
  async (_id, check) => {
    expect((await run(check)).faults).toEqual([]);
  },
);

test.each(["readers", "access-changes", "groups-end", "moved"])(
  "a source that tells its groups between its items passes %s",
  async (id) => {
    const check = SOURCE_CHECKS.find((each) => each.id === id);
    if (check === undefined) throw new Error(`There is no check ${id}.`);
    const telling = { caughtBy: "", plant: (source: Parameters<typeof toldInSync>[0]) => toldInSync(source) };
    expect((await runSourceCheck(check, () => makeFaultyFixture(telling))).faults).toEqual([]);
  },
);

describe("a source that is wrong in one way", () => {
  test.each(PLANTED)("%s is seen by the check that is there for it", CHECK_TIMEOUT, async (_name, fault) => {
    const check = SOURCE_CHECKS.find(({ id }) => id === fault.caughtBy);
    if (check === undefined) throw new Error(`There is no check ${fault.caughtBy}.`);
    const { faults } = await runSourceCheck(check, () => makeFaultyFixture(fault));
    expect(faults).not.toEqual([]);
  });
});
