import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FACTORS } from "#text/factors.ts";

test("the page on evaluation has every factor of the ranking with its weight", () => {
  const page = readFileSync("docs/evaluation.md", "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)` +\| ([\d.]+) +\| (.*?) +\|$/gm)].map((match) => match.slice(1));
  expect(rows).toEqual(Object.entries(FACTORS).map(([name, { weight, does }]) => [name, String(weight), does]));
});
