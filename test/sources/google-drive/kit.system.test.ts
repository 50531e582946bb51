import { describe, expect, test } from "vitest";
import { makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { makeDriveFixture } from "./fixture.ts";

describe("google-drive, with a fake of ours", { timeout: 120_000 }, () => {
  const run = makeCheckRunner(() => makeDriveFixture());
  test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", async (_title, check) => {
    expect((await run(check)).faults).toEqual([]);
  });
});
