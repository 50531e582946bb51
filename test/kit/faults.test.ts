import { expect, test } from "vitest";
import { FAULTS, makeFaultyFixture } from "./faults.ts";
import { runSourceCheck, SOURCE_CHECKS } from "./index.ts";

// That the source without a fault is green: kit.test.ts.

test.each(Object.entries(FAULTS))("%s is seen by the check that is there for it", async (_name, fault) => {
  const check = SOURCE_CHECKS.find(({ id }) => id === fault.caughtBy);
  if (check === undefined) throw new Error(`There is no check ${fault.caughtBy}.`);
  const { faults } = await runSourceCheck(check, () => makeFaultyFixture(fault));
  expect(faults).not.toEqual([]);
});
