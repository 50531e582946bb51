import { expect, test } from "vitest";
import { readTool } from "#mcp-client/read.ts";

test("a tool only reads when it says exactly that", () => {
  const said = (annotations?: unknown) =>
    readTool({ name: "find", inputSchema: {}, annotations }, { schemaBytes: 1_000, schemaDepth: 8 })?.isReadOnly;
  expect(said({ readOnlyHint: true })).toBe(true);
  for (const other of [
    undefined,
    null,
    {},
    { readOnlyHint: null },
    { readOnlyHint: "true" },
    { readOnlyHint: 1 },
    [true],
  ])
    expect(said(other) ?? false, JSON.stringify(other)).toBe(false);
  expect(said({ destructiveHint: false, idempotentHint: true })).toBe(false);
});
