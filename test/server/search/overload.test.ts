import { expect, test } from "vitest";
import type { SearchIndex } from "#storage/search-index.ts";
import { composeFeatures, type ServiceDecorator } from "../../features.ts";
import { makeServer, type TestUser } from "../../helpers.ts";

/** More than can begin within a second, however fast the server takes searches to be before it has seen one. */
const FLOOD = 170;

/** A server whose index answers nobody until `release` is called. */
async function makeStuckServer() {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const decorate: ServiceDecorator = (name, part) => {
    if (name !== "index") return part;
    const index = part as SearchIndex; // the part of this name
    const show: SearchIndex["show"] = (request) => released.then(() => index.show(request));
    return { ...index, show } as typeof part;
  };
  const kb = await makeServer({ settings: { rateLimits: "off" } }, (core, database) =>
    composeFeatures(core, database, { decorate }),
  );
  return { kb, release: () => release() };
}

test("a flood of searches is refused with 503 and when to come back; someone else's search is not", async () => {
  const { kb, release } = await makeStuckServer();
  const owner = await kb.addOwner();
  const other = await kb.addMember(owner.workspaceId);
  const tokenOf = async (user: TestUser) => kb.withToken(await kb.token(user, ["mcp:read", "kb:api"]));
  const [flood, lone] = [await tokenOf(owner), await tokenOf(other)];
  const ask = (client: typeof flood) => client.get("/api/connectors/search?query=x");
  const flooding = Array.from({ length: FLOOD }, () => ask(flood));
  const refused = await Promise.race(flooding);
  expect([refused.status, refused.json.code]).toEqual([503, "search_overloaded"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  const asked = ask(lone);

  // A full line refuses tool calls as well: by an error of the protocol, which a client repeats by itself.
  const call = await flood.request("POST", "/mcp", {
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "kb_search", arguments: { query: "x" } } },
    headers: { accept: "application/json", "mcp-protocol-version": "2025-06-18" },
  });
  expect(call.status).toBe(200);
  expect(call.json.error).toMatchObject({ code: -32050, data: { code: "search_overloaded", retryable: true } });
  expect(call.json.error.data.retryAfterSeconds).toBeGreaterThan(0);
  expect(call.headers.get("retry-after")).toBe(String(call.json.error.data.retryAfterSeconds));

  release();
  expect((await asked).status).toBe(200);
  const statuses = new Set((await Promise.all(flooding)).map(({ status }) => status));
  expect(statuses).toEqual(new Set([200, 503]));
});
