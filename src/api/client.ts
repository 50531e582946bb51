import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./generated/openapi.d.ts";

/** A typed client of the REST API. Answers are `{data, error, response}`; nothing is thrown for a failed answer. */
export type ApiClient = Client<paths>;

/** Makes the client. `fetch` and the credential's header come from the caller; nothing is sent yet. */
export function makeApiClient(options: {
  baseUrl: string;
  headers?: Record<string, string>;
  fetch?: (request: Request) => Promise<Response>;
}): ApiClient {
  return createClient<paths>(options);
}
