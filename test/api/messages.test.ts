import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";

const SRC = new URL("../../src", import.meta.url).pathname;
/** Only models read what is written there. */
const OF_MCP = /^server\/mcp\//;
const NEXT_STEP = /(?:message|hint): *[`"'].*(?:\bkb_(?:search|get)_?\w*|\b(?:GET|POST|PUT|PATCH|DELETE) \/)/;

test("no failure sends a person to a route of the API or to a tool of MCP", ({ expect }) => {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) =>
    /^(?!api|cli|bridge).*\.ts$/.test(file),
  );
  expect(files.length).toBeGreaterThan(300);
  const found = files
    .filter((file) => !OF_MCP.test(file))
    .flatMap((file) =>
      readFileSync(join(SRC, file), "utf8")
        .split("\n")
        .filter((line) => NEXT_STEP.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});
