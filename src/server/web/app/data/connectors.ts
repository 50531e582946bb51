import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, take } from "./client.ts";

export const connectorsQuery = infiniteQueryOptions({
  queryKey: ["connectors", "pages"],
  queryFn: ({ pageParam }) =>
    take(
      api.GET("/api/connectors", { params: { query: { limit: 50, ...(pageParam !== "" && { cursor: pageParam }) } } }),
    ),
  initialPageParam: "",
  getNextPageParam: (page: { nextCursor: string | null }) => page.nextCursor,
});

/** One connector; `not_found` for what is not there and for who is neither its owner nor an admin. */
export function connectorQuery(id: string) {
  return queryOptions({
    queryKey: ["connectors", "one", id],
    queryFn: async () => (await take(api.GET("/api/connectors/{id}", { params: { path: { id } } }))).connector,
  });
}

/** Users whom its source named: everyone, or those who are not linked. */
export function peopleQuery(id: string, isForAll: boolean) {
  return infiniteQueryOptions({
    queryKey: ["connectors", "people", id, isForAll],
    queryFn: ({ pageParam }) =>
      take(
        api.GET("/api/connectors/{id}/people", {
          params: {
            path: { id },
            query: { limit: 50, unlinked: isForAll ? "false" : "true", ...(pageParam !== "" && { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page: { nextCursor: string | null }) => page.nextCursor,
  });
}

/** Its last runs, newest first. */
export function syncsQuery(id: string) {
  return queryOptions({
    queryKey: ["connectors", "syncs", id],
    queryFn: async () => {
      const params = { path: { id }, query: { limit: 10 } };
      const { syncs } = await take(api.GET("/api/connectors/{id}/syncs", { params }));
      return syncs.filter((sync) => sync !== null);
    },
  });
}
