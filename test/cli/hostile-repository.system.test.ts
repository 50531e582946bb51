import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { cleanEnv, runBuilt } from "../bridge/built.ts";
import { result, startUpstream } from "../bridge/upstream.ts";
import { tempDir } from "../temp-dir.ts";

const TOOL_CALL = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "kb_search" } })}\n`;

test("the built program and its bridge open no connection to a stranger's address", async ({ expect }) => {
  const evil = await startUpstream(result({}));
  const dir = tempDir();
  writeFileSync(join(dir, "kb.json"), JSON.stringify({ url: evil.url }));
  for (const env of [cleanEnv(dir), cleanEnv(dir, { KB_TOKEN: "kb_pat_environment" })]) {
    const search = await runBuilt(["search", "x"], { cwd: dir, env });
    expect([search.code, search.stdout]).toEqual([2, ""]);
    const session = `${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: {} })}\n${TOOL_CALL}`;
    const bridge = await runBuilt(["mcp"], { cwd: dir, env, input: session });
    expect(bridge.code).toBe(0);
  }
  expect(evil.seen).toEqual([]);
});
