import { expect, test } from "vitest";
import { CHECK_TIMEOUT, makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { makeMcpFixture } from "./fixture.ts";

const run = makeCheckRunner(makeMcpFixture);
// The kit's server can't make a connector on a connection: nobody is connected to anything there.
const checks = SOURCE_CHECKS.filter(({ id }) => id !== "engine");

test.each(checks.map((check) => [check.title, check] as const))("%s", CHECK_TIMEOUT, async (_title, check) => {
  expect((await run(check)).faults).toEqual([]);
});
