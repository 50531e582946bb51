import { expect, test } from "vitest";
import { runSourceCheck, SOURCE_CHECKS } from "./index.ts";
import { makeReferenceFixture } from "./reference/fixture.ts";
import type { KitFixture } from "./fixture.ts";

test.each(SOURCE_CHECKS.map((check) => [check.id, check] as const))(
  "the reference source passes %s",
  async (_id, check) => {
    const make = async () => (await makeReferenceFixture()).fixture as KitFixture;
    expect((await runSourceCheck(check, make)).faults).toEqual([]);
  },
);
