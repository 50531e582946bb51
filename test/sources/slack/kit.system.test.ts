import { describe, expect, test } from "vitest";
import { makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { makeSlackFixture } from "./fixture.ts";

describe("slack, with an emulator", { timeout: 120_000 }, () => {
  const run = makeCheckRunner(makeSlackFixture);
  test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", async (_title, check) => {
    expect((await run(check)).faults).toEqual([]);
  });
});
