import { test } from "vitest";
import { makePushServer } from "../connectors/push-harness.ts";
import { pushed } from "../connectors/server.ts";

test.for([
  "http://127.0.0.1:7700/api/accounts/gitea/authorize?returnTo=/planted",
  "http://LOCALHOST:7700/connect?planted#intent=x",
  "https://a:b@127.0.0.1:7700/planted",
  "http://127.1:7700/i/planted",
])("an item whose address leads to this server has its permalink instead, everywhere: %s", async (url, { expect }) => {
  const kb = await makePushServer();
  expect(await kb.results([pushed("a", { url }), pushed("b", { url: "https://tracker.test/b" })])).toEqual([
    "upserted",
    "upserted",
  ]);
  const me = kb.as(kb.owner);
  const { results } = (await me.get("/api/connectors/search?query=task&explain=true")).json;
  const found = results.find((hit: { title: string }) => hit.title === "Task a");
  const permalink = `${kb.settings.baseUrl}/i/${found.kbId}`;
  expect(found.url).toBe(permalink);
  expect((await me.get(`/api/connectors/files/${found.kbId}`)).json.file.url).toBe(permalink);
  expect(JSON.stringify((await me.get("/api/connectors/all-files")).json)).not.toContain("planted");

  const token = await kb.token(kb.owner);
  const call = async (name: string, args: object) =>
    JSON.stringify(
      (
        await kb.withToken(token).request("POST", "/mcp", {
          body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
          headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-03-26" },
        })
      ).json,
    );
  for (const answer of [
    await call("kb_search", { query: "task" }),
    await call("kb_get_file_content", { kbId: found.kbId }),
  ]) {
    expect(answer).toContain(permalink);
    expect(answer).not.toContain("planted");
  }
  expect(await call("kb_search", { query: "task" })).toContain("https://tracker.test/b");
});
