import { expect, test } from "vitest";
import { makeApiClient, type ApiClient } from "#api/client.ts";
import { makeServer } from "../helpers.ts";

/** Never called. The type check reads it, and fails when one of these lines has no error. */
export async function refusedByTheCompiler({ GET, POST }: ApiClient): Promise<void> {
  // @ts-expect-error -- a path that is none
  await GET("/api/tokens");
  // @ts-expect-error -- a field that the body does not have, beside one that it has
  await POST("/api/api-tokens", { body: { name: "laptop", days: 30 } });
  // @ts-expect-error -- a parameter that the query does not have
  await GET("/api/connectors/search", { params: { query: { query: "plan", dateOf: "due" } } });
  // @ts-expect-error -- a parameter that the path does not have
  await GET("/api/connectors/{id}", { params: { path: { connectorId: "con_1" } } });
  // @ts-expect-error -- a key that the answer does not have
  await GET("/api/api-tokens").then(({ data }) => data?.apiTokens);
}

test("the typed client calls the server by the published document", async () => {
  const kb = await makeServer();
  const owner = await kb.addOwner();
  const client = makeApiClient({
    baseUrl: kb.settings.baseUrl,
    headers: { cookie: `${kb.deps.cookie.name}=${owner.sessionSecret}` },
    fetch: async (request) =>
      kb.app.request(request, undefined, { incoming: { socket: { remoteAddress: "127.0.0.1" } } }),
  });
  const created = await client.POST("/api/api-tokens", { body: { name: "laptop" } });
  expect(created.data?.token.name).toBe("laptop");
  const listed = await client.GET("/api/api-tokens");
  expect(listed.data?.tokens.map((token) => token.id)).toEqual([created.data?.token.id]);
  const refused = await client.DELETE("/api/api-tokens/{id}", { params: { path: { id: "tok_2222222222222222" } } });
  expect(refused.error).toMatchObject({ code: "not_found", status: 404 });
});

test.each([
  ["JSON", new Response('{"tokens":[]}'), { data: { tokens: [] } }],
  ["a success without content", new Response(null, { status: 204 }), { data: undefined }],
  ["a problem", new Response('{"code":"forbidden"}', { status: 403 }), { error: { code: "forbidden" } }],
  ["a proxy's page", new Response("<h1>Bad gateway</h1>", { status: 502 }), { error: "<h1>Bad gateway</h1>" }],
  ["a failure without content", new Response(null, { status: 503 }), { error: undefined }],
])("the typed client reads %s", async (_name, response, expected) => {
  const { GET } = makeApiClient({ baseUrl: "https://kb.test", fetch: async () => response });
  expect(await GET("/api/api-tokens")).toEqual({ ...expected, response });
});

test("the typed client sends what a call has: address, headers, and JSON or lines as they are", async () => {
  const sent: Request[] = [];
  const fetch = async (request: Request) => (sent.push(request), new Response(null, { status: 204 }));
  const { GET, POST } = makeApiClient({ baseUrl: "https://kb.test/at", headers: { cookie: "kb=1" }, fetch });
  await GET("/api/connectors/{id}/files", { params: { path: { id: "a/b" }, query: { limit: 2, q: undefined } } });
  await POST("/api/api-tokens", { body: { name: "laptop" }, headers: { "x-a": "1" } });
  await POST("/api/connectors/{id}/items", { params: { path: { id: "con_1" } }, content: "{}\n" });
  expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
    "GET https://kb.test/at/api/connectors/a%2Fb/files?limit=2",
    "POST https://kb.test/at/api/api-tokens",
    "POST https://kb.test/at/api/connectors/con_1/items",
  ]);
  expect(await Promise.all(sent.map((request) => request.text()))).toEqual(["", '{"name":"laptop"}', "{}\n"]);
  expect(sent[1]?.headers.get("content-type")).toBe("application/json");
  expect(sent.map(({ headers }) => [headers.get("cookie"), headers.get("x-a")])).toEqual([
    ["kb=1", null],
    ["kb=1", "1"],
    ["kb=1", null],
  ]);
});
