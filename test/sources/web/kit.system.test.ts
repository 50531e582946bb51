import { describe, expect, onTestFinished, test } from "vitest";
import { CHECK_TIMEOUT, makeCheckRunner, SOURCE_CHECKS } from "../../kit/index.ts";
import { CREDENTIALS, makeWebFixture } from "./fixture.ts";
import { startSite } from "./site.ts";

describe.each(["crawl", "sitemap"] as const)("web by %s", (by) => {
  const run = makeCheckRunner(async () => {
    const site = await startSite(CREDENTIALS);
    onTestFinished(() => site.stop());
    return makeWebFixture(site, by);
  });
  const checks = by === "crawl" ? SOURCE_CHECKS : SOURCE_CHECKS.filter(({ id }) => OF_LISTINGS.has(id));
  test.each(checks.map((check) => [check.title, check] as const))("%s", CHECK_TIMEOUT, async (_title, check) => {
    expect((await run(check)).faults).toEqual([]);
  });
});

/** What depends on where the pages come from. */
const OF_LISTINGS: ReadonlySet<string> = new Set([
  "check-ok",
  "full-sync",
  "idle",
  "changes",
  "renamed",
  "edit-during-walk",
  "resume",
  "resume-later",
  "another-run",
  "scope",
  "items",
  "unreachable",
  "unauthorized",
  "limited",
  "one-container",
  "two-containers",
  "elsewhere",
]);
