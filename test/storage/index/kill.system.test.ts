import { expect, test } from "vitest";
import { buildChild } from "../../extract/build-child.ts";
import { killAgainAndAgain } from "./kill.ts";

test("killed with signal 9 in the middle of batches and compactions, the index equals the records", async () => {
  expect(await killAgainAndAgain(3, 400, [await buildChild("test/storage/index/kill-child.ts")])).toBeGreaterThan(3);
});
