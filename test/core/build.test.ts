import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { checkBuild, explainMissingPart } from "#core/build.ts";
import { tempDir } from "../temp-dir.ts";

const RESTART = /updated while it was running\. Restart it/;

test("a program file is loaded only while the files are of the build that runs", () => {
  const file = join(tempDir(), "build.json");
  const url = pathToFileURL(file);
  expect(() => checkBuild("a1", url)).toThrow(RESTART);
  writeFileSync(file, '{"build":"a1"}');
  checkBuild("a1", url);
  writeFileSync(file, '{"build":"b2"}');
  expect(() => checkBuild("a1", url)).toThrow(RESTART);
  writeFileSync(file, "{");
  expect(() => checkBuild("a1", url)).toThrow(RESTART);
  // From its sources there is no build that could change.
  checkBuild(undefined, url);
});

test("a part that is gone is told as an update, and nothing else is", async () => {
  const missing = await import(join(tempDir(), "gone.js")).catch((error: unknown) => error);
  expect(explainMissingPart(missing, "a1")?.message).toMatch(RESTART);
  expect(explainMissingPart(new Error("x", { cause: missing }), "a1")?.message).toMatch(RESTART);
  expect(explainMissingPart(missing)).toBeUndefined();
  expect(explainMissingPart(new TypeError("no"), "a1")).toBeUndefined();
});
