import { test } from "vitest";
import { readMcpArgv } from "#cli/start/mcp-argv.ts";
import { parseArgv } from "#cli/start/parse.ts";

test.for([
  [["mcp"]],
  [["bridge", "--verbose"]],
  [["mcp", "--url", "https://kb.test", "--log-file=x.log"]],
  [["mcp", "--url=https://kb.test/mcp?a=b", "--profile", "work", "--verbose"]],
])("%j is read as the full parser reads it", async ([argv = []], { expect }) => {
  const full = await parseArgv(argv, 80);
  const { input: _no, color: _colour, ...options } = "input" in full ? full.input.options : {};
  expect(readMcpArgv(argv)).toEqual({ args: {}, options });
});

test.for([
  [["mcp", "--help"]],
  [["mcp", "--url"]],
  [["mcp", "--url", "--verbose"]],
  [["mcp", "--ulr", "x"]],
  [["mcp", "extra"]],
  [["search"]],
])("%j is left to the full parser", ([argv = []], { expect }) => expect(readMcpArgv(argv)).toBeUndefined());
