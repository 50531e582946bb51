import { test } from "vitest";
import { buildChild } from "../../extract/build-child.ts";
import { killAgainAndAgain } from "./kill.ts";

test("killed with signal 9 while it writes, the index equals the records", async ({ expect }) => {
  expect(await killAgainAndAgain(1, 60, [await buildChild("test/storage/index/kill-child.ts")])).toBeGreaterThan(0);
});
