import { expect, test } from "vitest";
import { CHECK_TIMEOUT, makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { makeGithubFixture } from "./fixture.ts";
import { makeWorld } from "./world.ts";

// Against a fake of ours: `emulate` has no teams, no base permission, no GraphQL and no tokens that are refused.
const run = makeCheckRunner(async () => makeGithubFixture(await makeWorld()));

test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", CHECK_TIMEOUT, async (_title, check) => {
  expect((await run(check)).faults).toEqual([]);
});
