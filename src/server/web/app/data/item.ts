import { type InfiniteData, infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, client, dataIn } from "./client.ts";
import { Problem } from "./problem.ts";

/** The size of one page of a text, in UTF-16 code units. */
const PART_CHARS = 100_000;

const once = (count: number, error: unknown) => count < 1 && !(error instanceof Problem);

interface Part {
  text: string;
  /** The offset at which the next page begins. */
  next: number | null;
}

/** An item's plain text, which arrives in pages; `not_found` if it doesn't exist or the person may not read it. */
export function itemTextQuery(kbId: string) {
  return infiniteQueryOptions({
    queryKey: ["item", kbId, "text"],
    queryFn: ({ pageParam }) => readPart(kbId, pageParam),
    initialPageParam: 0,
    getNextPageParam: (part: Part) => part.next,
    select: ({ pages }: InfiniteData<Part>) => pages.map(({ text }) => text).join(""),
    retry: once,
  });
}

/** An item's metadata; `not_found` if it doesn't exist or the person may not read it. */
export function itemQuery(fileId: string) {
  return queryOptions({
    queryKey: ["item", fileId, "record"],
    queryFn: async () => (await api.get("/api/connectors/files/{fileId}", { params: { path: { fileId } } })).file,
    retry: once,
  });
}

/** Why the person may see an item and, for admins, who else may. */
export function itemAccessQuery(fileId: string) {
  return queryOptions({
    queryKey: ["item", fileId, "access"],
    queryFn: () => api.get("/api/connectors/files/{fileId}/access", { params: { path: { fileId } } }),
    retry: once,
  });
}

async function readPart(kbId: string, offset: number): Promise<Part> {
  const answer = await client.GET("/api/connectors/files/{fileId}/content", {
    params: { path: { fileId: kbId }, query: { offset, limit: PART_CHARS } },
    headers: { Accept: "text/plain" },
    parseAs: "text",
  });
  const text = await dataIn(answer);
  const next = answer.response.headers.get("X-Next-Offset");
  return { text: typeof text === "string" ? text : "", next: next === null ? null : Number(next) };
}
