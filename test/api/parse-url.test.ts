import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { canParseUrl } from "#api/parse-url.ts";

test("an address with letters of Latin-1 stays one, however often it is asked about", () => {
  const asked = Array.from({ length: 20_000 }, () => canParseUrl("https://b\u00fccher.test/x"));
  expect(asked.filter((isOne) => !isOne)).toEqual([]);
  const below = Array.from({ length: 20_000 }, () => canParseUrl("/x", "https://b\u00fccher.test/"));
  expect(below.filter((isOne) => !isOne)).toEqual([]);
  expect([canParseUrl("b\u00fccher"), canParseUrl("https://"), canParseUrl("x", "y")]).toEqual([false, false, false]);
});

test("nothing asks Node, which forgets those letters", () => {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/.test(path));
  const asking = files.filter((path) => /\bURL\.canParse\(/.test(readFileSync(`src/${path}`, "utf8")));
  expect(asking).toEqual([]);
});
