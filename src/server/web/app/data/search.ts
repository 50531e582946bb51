import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { SearchAnswer } from "#api/search.ts";
import { api, take } from "./client.ts";

/** What the address of the search page says: the words, and a value for each filter in use. */
export type Asked = Readonly<Partial<Record<AskedName, string>>>;

/** The filters and the order, by their names in the address and at the route. */
export const FILTERS = ["kind", "source", "people", "status", "after", "sortBy"] as const;
export type FilterName = (typeof FILTERS)[number];
export type AskedName = "query" | FilterName;

/** The filters whose values the answer counts, and by which facet. */
export const FACETS = { kind: "kind", source: "source", people: "person", status: "status" } as const;

/** Takes from the search part of an address what the page knows. */
export function askedIn(search: Readonly<Record<string, unknown>>): Asked {
  const names: readonly AskedName[] = ["query", ...FILTERS];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = search[name];
      return typeof value === "string" && value !== "" ? [[name, value]] : [];
    }),
  );
}

/** Results in pages, the first one with counts per filter; what was shown stays until the next answer is there. */
export function searchQuery(asked: Asked) {
  return infiniteQueryOptions({
    queryKey: ["search", asked],
    queryFn: ({ pageParam }): Promise<SearchAnswer> => {
      const page = pageParam === "" ? { facets: Object.values(FACETS) } : { cursor: pageParam };
      // A value that the server does not know, in an address typed by hand, is answered with what it expects.
      const query = { ...(asked as object), limit: PAGE, ...page };
      return take(api.GET("/api/connectors/search", { params: { query } }));
    },
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
  });
}

const PAGE = 20;

/** How much there is to find for this person, by source. */
export const countsQuery = queryOptions({
  queryKey: ["file-counts"],
  queryFn: () => take(api.GET("/api/connectors/file-counts-by-source")),
});
