import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeMcpReference } from "#server/mcp/reference.ts";

test("docs/mcp.md is what the server publishes", () => {
  expect(readFileSync(new URL("../../../docs/mcp.md", import.meta.url), "utf8")).toBe(makeMcpReference());
});
