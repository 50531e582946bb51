import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, take } from "./client.ts";
import { Problem } from "./problem.ts";

/** UTF-16 code units of one page of a text. */
const PART_CHARS = 100_000;

const once = (count: number, error: unknown) => count < 1 && !(error instanceof Problem);

/** An item's text in pages, as plain text; `not_found` if it doesn't exist or the person may not read it. */
export function itemTextQuery(kbId: string) {
  return infiniteQueryOptions({
    queryKey: ["item", kbId, "text"],
    queryFn: ({ pageParam }) => readPart(kbId, pageParam),
    initialPageParam: 0,
    getNextPageParam: (part: { next: number | null }) => part.next,
    retry: once,
  });
}

/** An item's metadata; `not_found` likewise. */
export function itemQuery(fileId: string) {
  return queryOptions({
    queryKey: ["item", fileId, "record"],
    queryFn: async () => (await take(api.GET("/api/connectors/files/{fileId}", { params: { path: { fileId } } }))).file,
    retry: once,
  });
}

/** Why the person may see an item, and for admins who else may. */
export function itemAccessQuery(fileId: string) {
  return queryOptions({
    queryKey: ["item", fileId, "access"],
    queryFn: () => take(api.GET("/api/connectors/files/{fileId}/access", { params: { path: { fileId } } })),
    retry: once,
  });
}

async function readPart(kbId: string, offset: number): Promise<{ text: string; next: number | null }> {
  const call = api.GET("/api/connectors/files/{fileId}/content", {
    params: { path: { fileId: kbId }, query: { offset, limit: PART_CHARS } },
    headers: { Accept: "text/plain" },
    parseAs: "text",
  });
  const text = await take(call);
  const next = (await call).response.headers.get("X-Next-Offset");
  return { text: typeof text === "string" ? text : "", next: next === null ? null : Number(next) };
}
