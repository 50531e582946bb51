import { queryOptions } from "@tanstack/react-query";
import { credentialsOf, newestCall } from "./call-words.ts";
import { api } from "./client.ts";

/** How often a page checks for a call. A hidden page doesn't check. */
const LOOK_MS = 4_000;

/** Whether the person has a token or has connected a client, and the newest call of one. Refetched live. */
export const callQuery = queryOptions({
  queryKey: ["newest-call"],
  queryFn: async () => {
    const query = { limit: 50 };
    const [{ reads }, { tokens }, { grants }] = await Promise.all([
      api.get("/api/audit/reads", { params: { query } }),
      api.get("/api/api-tokens"),
      api.get("/api/grants", { params: { query } }),
    ]);
    const credentials = credentialsOf(tokens, grants);
    return { call: newestCall(reads, credentials), hasClient: credentials.length > 0 };
  },
  refetchInterval: LOOK_MS,
  refetchIntervalInBackground: false,
});
