import { infiniteQueryOptions } from "@tanstack/react-query";
import type { FileRecord } from "#api/files.ts";
import { api, take } from "./client.ts";
import { Problem } from "./problem.ts";

/** UTF-16 code units of one part of a text. */
const PART_CHARS = 100_000;

/** An item's text in parts, as plain text; `not_found` for what is not there and for what the person may not read. */
export function itemTextQuery(kbId: string) {
  return infiniteQueryOptions({
    queryKey: ["item", kbId, "text"],
    queryFn: ({ pageParam }) => readPart(kbId, pageParam),
    initialPageParam: 0,
    getNextPageParam: (part: { next: number | null }) => part.next,
    retry: (count, error) => count < 1 && !(error instanceof Problem),
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

/** Pages of items with the same words in the title that are looked through. */
const MOST_PAGES = 5;

/**
 * What is known of an item that the person may read. There is no route for one record: its title and connector come
 * from the account of its access, the record from the list of items with that title.
 *
 * @returns `title` is null for somebody who may not read it
 */
export async function findRecord(kbId: string): Promise<{ title: string | null; file: FileRecord | null }> {
  const path = { fileId: kbId };
  const access = await take(api.GET("/api/connectors/files/{fileId}/access", { params: { path } }));
  if (!access.isAllowed || access.title === null) return { title: null, file: null };
  const { title, connectorId } = access;
  const q = title.slice(0, 200);
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const query = {
      connectorId,
      limit: 200,
      sort: "updatedAt" as const,
      ...(q !== "" && { q }),
      ...(cursor && { cursor }),
    };
    const { files, nextCursor } = await take(api.GET("/api/connectors/all-files", { params: { query } }));
    const file = files.find((one) => one.kbId === kbId);
    if (file !== undefined || nextCursor === null) return { title, file: file ?? null };
    cursor = nextCursor;
  }
  return { title, file: null };
}
