/** The reference source in the server itself, and what is planted to be seen there. The rest of the kit is in `kit.test.ts`. */
import { expect, test } from "vitest";
import { FAULTS, makeFaultyFixture } from "./faults/index.ts";
import type { KitFixture } from "./fixture.ts";
import { CHECK_TIMEOUT, runSourceCheck, SOURCE_CHECKS } from "./index.ts";
import { makeReferenceFixture } from "./reference/fixture.ts";

const engine = SOURCE_CHECKS.filter(({ id }) => id === "engine");
const planted = Object.entries(FAULTS).filter(([, { caughtBy }]) => caughtBy === "engine");

test.each(engine)("the reference source passes it", CHECK_TIMEOUT, async (check) => {
  const made = async () => (await makeReferenceFixture()).fixture as KitFixture;
  expect((await runSourceCheck(check, made)).faults).toEqual([]);
});

test.each(planted)("%s is seen", CHECK_TIMEOUT, async (_name, fault) => {
  for (const check of engine) {
    const { faults } = await runSourceCheck(check, () => makeFaultyFixture(fault));
    expect(faults).not.toEqual([]);
  }
});

test("there is such a check, and there are such faults", () => {
  expect(engine).toHaveLength(1);
  expect(planted.length).toBeGreaterThan(2);
});
