import { describe, expect, test } from "vitest";
import { makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { openSite } from "./fixture.ts";

// No Confluence runs here: a fake of ours answers.
describe.each(["cloud", "data_center"] as const)("confluence, as %s answers", { timeout: 120_000 }, (deployment) => {
  const run = makeCheckRunner(async () => (await openSite(deployment)).fixture);
  test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", async (_title, check) => {
    expect((await run(check)).faults).toEqual([]);
  });
});
