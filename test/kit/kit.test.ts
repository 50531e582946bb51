import { describe, expect, test } from "vitest";
import { FAULTS, makeFaultyFixture } from "./faults.ts";
import { makeCheckRunner, runSourceCheck, SOURCE_CHECKS } from "./index.ts";
import { makeReferenceFixture } from "./reference/fixture.ts";
import type { KitFixture } from "./fixture.ts";

const run = makeCheckRunner(async () => (await makeReferenceFixture()).fixture as KitFixture);

test.each(SOURCE_CHECKS.map((check) => [check.id, check] as const))(
  "the reference source passes %s",
  async (_id, check) => {
    expect((await run(check)).faults).toEqual([]);
  },
);

describe("a source that is wrong in one way", () => {
  test.each(Object.entries(FAULTS))("%s is seen by the check that is there for it", async (_name, fault) => {
    const check = SOURCE_CHECKS.find(({ id }) => id === fault.caughtBy);
    if (check === undefined) throw new Error(`There is no check ${fault.caughtBy}.`);
    const { faults } = await runSourceCheck(check, () => makeFaultyFixture(fault));
    expect(faults).not.toEqual([]);
  });
});
