import { describe, expect, test } from "vitest";
import { makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { openSite } from "./fixture.ts";

// No Confluence runs here: a fake of ours answers.
describe("confluence, as Cloud answers", { timeout: 120_000 }, () => {
  const run = makeCheckRunner(async () => (await openSite("cloud")).fixture);
  test.each(SOURCE_CHECKS.map((check) => [check.title, check] as const))("%s", async (_title, check) => {
    expect((await run(check)).faults).toEqual([]);
  });
});

/** Checks that change the remote, where the two deployments differ in what they are asked. */
const CHANGES = new Set(["changes", "access-changes"]);
const OF_BOTH = SOURCE_CHECKS.filter(({ id, isReading }) => isReading === true || CHANGES.has(id));

describe("confluence, as Data Center answers", { timeout: 120_000 }, () => {
  const run = makeCheckRunner(async () => (await openSite("data_center")).fixture);
  test.each(OF_BOTH.map((check) => [check.title, check] as const))("%s", async (_title, check) => {
    expect((await run(check)).faults).toEqual([]);
  });
});
