import { expect, test } from "vitest";
import { killAgainAndAgain } from "../storage/index/kill.ts";

// Minutes long, so only on request; the short form runs with the suite.
test.skipIf(process.env["KB_TEST_LONG"] === undefined)(
  "killed 100 times, the index equals the records every time",
  async () => {
    expect(await killAgainAndAgain(100, 2_000)).toBeGreaterThan(1_000);
  },
  1_200_000,
);
