import { api } from "#server/web/app/data/client.ts";

/** Never called. The page's type check reads it, and fails when one of these lines has no error. */
export async function refusedByTheCompiler(): Promise<void> {
  // @ts-expect-error -- a path that is none
  await api.get("/api/tokens");
  // @ts-expect-error -- a parameter that the path does not have
  await api.get("/api/connectors/{id}", { params: { path: { connectorId: "con_1" } } });
  // @ts-expect-error -- a field that the body does not have, beside one that it has
  await api.post("/api/api-tokens", { body: { name: "laptop", days: 30 } });
  // @ts-expect-error -- a key that the answer does not have
  await api.get("/api/api-tokens").then((data) => data.apiTokens);
}
