import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { SearchAnswer } from "#api/search.ts";
import { api } from "./client.ts";

/** The parameters in the search page's address: the words, and a value for each filter in use. */
export type Asked = Readonly<Partial<Record<AskedName, string>>>;

/** The filters and the sort order, by their names in the address and in the route. */
export const FILTERS = ["kind", "source", "people", "status", "after", "sortBy"] as const;
export type FilterName = (typeof FILTERS)[number];
export type AskedName = "query" | FilterName;

/** The filters for which the answer counts values, with their facets. */
export const FACETS = { kind: "kind", source: "source", people: "person", status: "status" } as const;

/** Returns the parameters in an address that the page uses. */
export function askedIn(search: Readonly<Record<string, unknown>>): Asked {
  const names: readonly AskedName[] = ["query", ...FILTERS];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = search[name];
      return typeof value === "string" && value !== "" ? [[name, value]] : [];
    }),
  );
}

/**
 * Results in pages. The first page has counts per filter. The displayed results stay until the next response arrives.
 */
export function searchQuery(asked: Asked) {
  return infiniteQueryOptions({
    queryKey: ["search", asked],
    queryFn: ({ pageParam }): Promise<SearchAnswer> => {
      const page = pageParam === "" ? { facets: Object.values(FACETS) } : { cursor: pageParam };
      // An address typed by hand may have an unknown value. The server then answers with the valid values.
      const query = { ...(asked as object), limit: PAGE, ...page };
      return api.get("/api/connectors/search", { params: { query } });
    },
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
  });
}

const PAGE = 20;

/** The number of items that this person can find, by source. */
export const countsQuery = queryOptions({
  queryKey: ["file-counts"],
  queryFn: () => api.get("/api/connectors/file-counts-by-source"),
});
