import { expect, test } from "vitest";
import { CHECK_TIMEOUT, makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { makeMcpFixture } from "./fixture.ts";

const run = makeCheckRunner(makeMcpFixture);

test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", CHECK_TIMEOUT, async (_title, check) => {
  expect((await run(check)).faults).toEqual([]);
});
