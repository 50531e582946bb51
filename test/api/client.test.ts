import { test } from "vitest";
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
  // @ts-expect-error -- a key that the answer does not have
  await GET("/api/api-tokens").then(({ data }) => data?.apiTokens);
}

test("the typed client calls the server by the published document", async ({ expect }) => {
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
