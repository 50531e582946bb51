import { expect, test } from "vitest";
import { CHECK_TIMEOUT, makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { makeImapFixture } from "./fixture.ts";

const run = makeCheckRunner(makeImapFixture);

test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", CHECK_TIMEOUT, async (_title, check) => {
  expect((await run(check)).faults).toEqual([]);
});
